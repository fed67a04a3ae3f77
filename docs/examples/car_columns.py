"""What docs/messy-dataframe.md makes of two columns of its table. A saved model finds the functions here."""

import pandas as pd

_DAY = pd.Timedelta(days=1)


def brand(frame: pd.DataFrame) -> pd.DataFrame:
    """The first word of each text, in lower case; "" where there is none."""
    return frame.apply(lambda texts: texts.astype("string").fillna("").str.lower().str.split(n=1).str[0])


def days(frame: pd.DataFrame) -> pd.DataFrame:
    """Dates as days since 1970; what is no date is missing."""
    dates = frame.apply(pd.to_datetime, errors="coerce")
    return (dates - pd.Timestamp("1970-01-01")) / _DAY
