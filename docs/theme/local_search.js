// Browsers start no worker from a local file. The search then runs in a hidden frame. As with a worker, messages
// are copied, and arrive later.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inner = this.frame.contentWindow
      inner.postMessage = data => setTimeout(() => {
        if (this.onmessage) this.onmessage({ data: structuredClone(data) })
      })
      const script = inner.document.createElement("script")
      script.src = url
      this.loaded = new Promise(done => { script.onload = done })
      inner.document.body.append(script)
    }
    postMessage(data) {
      const inner = this.frame.contentWindow
      this.loaded.then(() => setTimeout(() => inner.onmessage({ data: inner.structuredClone(data) })))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
