// An HTTP server on loopback in front of a Worker, so that clients see a server.
//
// It does what the platform does before and after a Worker: makes a Request of what arrives, with a
// signal that aborts when the client leaves, and sends the Response on as it comes.

import { createServer } from "node:http";
import { Readable } from "node:stream";

const requestOf = (incoming, signal) => {
  const { method } = incoming;
  const headers = new Headers();
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    headers.append(incoming.rawHeaders[index], incoming.rawHeaders[index + 1]);
  }
  headers.set("cf-connecting-ip", incoming.socket.remoteAddress ?? "");
  const isBodyless = method === "GET" || method === "HEAD";
  const hasBody = "content-length" in incoming.headers || "transfer-encoding" in incoming.headers;
  // The platform knows a Worker by its name and sends it nothing for another; here the name is the
  // address that is listened on, whatever the header says.
  const url = `http://127.0.0.1:${incoming.socket.localPort}${incoming.url}`;
  if (isBodyless || !hasBody) {
    incoming.resume();
    return new Request(url, { method, headers, signal });
  }
  return new Request(url, {
    method,
    headers,
    signal,
    body: Readable.toWeb(incoming, { strategy: { highWaterMark: 0 } }),
    duplex: "half",
  });
};

const send = async (response, outgoing) => {
  outgoing.writeHead(response.status, [...response.headers].flat());
  if (response.body === null) return outgoing.end();
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  outgoing.on("close", () => reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return outgoing.end();
    if (!outgoing.write(value)) {
      await new Promise((resolve) => {
        outgoing.once("drain", resolve);
        outgoing.once("close", resolve);
      });
    }
  }
};

/** Listens on a free port; `answer(request)` gives a Response. Resolves to {url, close}. */
export const listen = (answer) => {
  const server = createServer(async (incoming, outgoing) => {
    const leaving = new AbortController();
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) leaving.abort();
    });
    try {
      await send(await answer(requestOf(incoming, leaving.signal)), outgoing);
    } catch (error) {
      console.error(String(error?.stack ?? error).slice(0, 20_000));
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500).end("the Worker threw an exception");
    }
  });
  server.requestTimeout = 0;
  // None is closed for being idle: Python holds the loop, and a client could be writing meanwhile.
  server.keepAliveTimeout = 0;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({
        url: `http://127.0.0.1:${server.address().port}`,
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      });
    });
  });
};
