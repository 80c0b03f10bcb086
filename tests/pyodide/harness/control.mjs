// A second server on loopback, by which a test says what the platform does: not a part of the Worker.
//
// Each path takes a JSON object and answers one. Before anything is done, the work that requests
// have left behind their answers is waited for.

import { listen } from "./front.mjs";

const now = Date.now.bind(Date);
let shiftMs = 0;
// Python's clock is JavaScript's.
Date.now = () => now() + shiftMs;

/** Listens; `given` is {env, wires, events, settled}. Resolves to {url, close}. */
export const listenForOrders = ({ env, wires, events, settled }) => {
  const orders = {
    "/deliver": async (order) => ({ delivered: await events.deliver(order) }),
    "/waiting": async () => ({ messages: await events.waiting() }),
    "/scheduled": async ({ cron }) => ({ thrown: await events.scheduled(cron) }),
    "/blobs": async () => ({ keys: await env.ARTIFACTS.keys() }),
    "/settle": async () => ({ counts: { ...wires.counts } }),
    // The most statements that one request or event has sent since the last time.
    "/statements": async () => {
      const { most } = wires.meter;
      wires.meter.most = 0;
      return { most };
    },
    "/fail": async (plan) => {
      wires.faults.plan = plan;
      return {};
    },
    "/clock": async ({ aheadMs }) => {
      shiftMs += aheadMs;
      return {};
    },
    "/ai": async (script) => {
      Object.assign(env.AI.script, script);
      return {};
    },
    "/ai/calls": async () => ({ calls: env.AI.calls.splice(0), aborted: env.AI.aborted }),
    "/vectors": async ({ lagMs, isSettled }) => {
      if (lagMs !== undefined) env.VECTORS.lagMs = lagMs;
      if (isSettled) env.VECTORS.settle();
      return { size: env.VECTORS.size };
    },
  };
  return listen(async (request) => {
    const order = orders[new URL(request.url).pathname];
    if (order === undefined) return new Response("no such order", { status: 404 });
    const given = await request.json();
    await settled();
    return Response.json(await order(given));
  });
};
