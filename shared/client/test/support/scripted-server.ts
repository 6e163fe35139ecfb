import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { adsweep, type Client, type ClientOptions } from '../../src/client.ts';

type Turn = (response: ServerResponse, request: IncomingMessage) => void;

/** Answers with JSON. */
export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Turn =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Breaks the connection. */
export const hangUp: Turn = (response) => response.destroy();

/** Never answers. */
export const silence: Turn = () => {};

/** Resolves when a connection is closed, also when its client resets it. */
export const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });

/** A server that answers each request with the next turn, the last one again and again, and a client of it. */
export async function scriptedServer(
  t: TestContext,
  turns: Turn[],
  options: Partial<ClientOptions> = {},
): Promise<{ api: Client; requests: IncomingMessage[]; url: string }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    turns[Math.min(requests.length, turns.length) - 1]!(response, request);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { api: adsweep({ url, key: 'secret', ...options }), requests, url };
}
