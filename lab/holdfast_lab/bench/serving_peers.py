"""Servers to compare with: a FastAPI app around River, in the obvious way, and Vowpal Wabbit's daemon.

python -m holdfast_lab.bench.serving_peers river|vw PORT
"""

import sys
import uuid


def river_app():
    """What waits for a label is in a dictionary: a kill loses it, and nothing limits it."""
    from fastapi import FastAPI, HTTPException
    from pydantic import BaseModel
    from river import linear_model, preprocessing

    class PredictBody(BaseModel):
        row: dict[str, float]

    class LabelBody(BaseModel):
        id: str
        target: float

    app, waiting = FastAPI(), {}
    model = preprocessing.StandardScaler() | linear_model.LinearRegression()

    @app.post("/predict")
    async def predict(body: PredictBody):
        id = str(uuid.uuid4())
        waiting[id] = body.row
        return {"id": id, "prediction": model.predict_one(body.row)}

    @app.post("/label")
    async def label(body: LabelBody):
        row = waiting.pop(body.id, None)
        if row is None:
            raise HTTPException(404, "unknown id")
        model.learn_one(row, body.target)
        return {"status": "accepted"}

    return app


def main(name, port):
    if name == "river":
        import uvicorn

        uvicorn.run(river_app(), port=port, log_level="warning")
    else:
        from vowpalwabbit import Workspace

        Workspace(f"--daemon --foreground --port {port} --num_children 4 --quiet").run_parser()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
