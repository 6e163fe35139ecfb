import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { adsweep, type Client } from '@adsweep/client/client.ts';
import { mcpServer } from '@adsweep/client/mcp/server.ts';
import { chosen, type Tool, toolsOf } from '@adsweep/client/mcp/tools.ts';
import { bearerCredential } from '@adsweep/shared/service/bearer.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Context, Middleware } from 'koa';
import { ApiError } from './api-error.ts';
import type { Caller } from './caller.ts';
import { readJson } from './read-body.ts';
import { type Admit, API_BODY, allowOnly, type RequestState } from './serve-routes.ts';

const MCP_PATH = '/mcp';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** A message has what the body of an operation has, and some values around it. */
const BODY = { bytes: API_BODY.bytes, values: API_BODY.values + 100 };
/** Calls of one organization that are answered at the same time: waiting for scans holds a connection each. */
const CALLS_MAX = 32;
/** A comment keeps the connection open while nothing is said. */
const KEEP_ALIVE_MS = 15_000;

export type McpParts = {
  /** Where this process serves the API. Tools call it there with the credential of their caller, so that the API alone decides what is allowed. */
  apiUrl: string;
  publicUrl: string;
  admit: Admit<Caller>;
  /** The credential that its calls of the API are sent with, which the rate limit does not count again. */
  counted: (credential: string) => string;
};

/**
 * Serves MCP by streamable HTTP, without sessions: each request has its own credential, and any replica answers it. Progress is reported
 * in the response of the request that waits, which ends with its connection.
 */
export function serveMcp({ apiUrl, publicUrl, admit, counted }: McpParts): Middleware {
  const calls = new Map<string, number>();
  let tools: Promise<Tool[]> | null = null;
  const readTools = async (api: Client): Promise<Tool[]> => {
    tools ??= api.getOpenApiDocument().then(toolsOf);
    return tools.catch((error: unknown) => {
      tools = null;
      throw error;
    });
  };

  return async (context, next) => {
    if (context.path !== MCP_PATH) return next();
    const state = context.state as RequestState;
    state.route = MCP_PATH;
    if (!allowOnly(context, ['POST'])) return;
    refuseForeignPage(context, publicUrl);
    const authorization = context.get('authorization');
    const { organizationId } = await admit(authorization, 'any', {}, (headers) => context.set(headers));
    state.organizationId = organizationId;
    const release = begin(calls, organizationId);
    try {
      const body = await readJson(context.req, BODY);
      if (Array.isArray(body)) throw new ApiError('bad_request', 'Send one message at a time.');
      const api = adsweep({
        url: apiUrl,
        key: counted(bearerCredential(authorization)),
        retries: 0,
        fetch: fetchParsedInTurn,
      });
      const offered = choose(await readTools(api), context.query);
      await answer(context, mcpServer({ version, api, tools: offered, url: publicUrl }), body);
    } finally {
      release();
    }
  };
}

/** Answers that arrive together are parsed one after the other: a page of a list may have megabytes. */
const fetchParsedInTurn: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
  const body = await response.arrayBuffer();
  await awaitTurn();
  return new Response(body, response);
};

/** Counts a call of an organization; the returned function ends it. Throws 429 if too many are open. */
function begin(calls: Map<string, number>, organizationId: string): () => void {
  const open = calls.get(organizationId) ?? 0;
  if (open >= CALLS_MAX) {
    const headers = { 'Retry-After': '5' };
    throw new ApiError('rate_limited', `Your organization has ${open} open calls of tools.`, { headers });
  }
  calls.set(organizationId, open + 1);
  return () => {
    const left = calls.get(organizationId)! - 1;
    if (left > 0) calls.set(organizationId, left);
    else calls.delete(organizationId);
  };
}

/** A page of another site must not call tools from its reader's browser (MCP, transports: `Origin`). */
function refuseForeignPage(context: Context, publicUrl: string): void {
  const origin = context.get('origin');
  if (origin !== '' && origin !== new URL(publicUrl).origin)
    throw new ApiError('forbidden', 'Pages of other sites cannot call tools.');
}

function choose(tools: Tool[], { group, read_only }: Context['query']): Tool[] {
  const groups = [group ?? []].flat();
  try {
    return chosen(tools, { groups, readOnly: read_only === 'true' });
  } catch (error) {
    throw new ApiError('not_found', (error as Error).message);
  }
}

/** Answers one message; resolves when the response has ended or the client has gone, which ends the work too. */
async function answer(context: Context, server: ReturnType<typeof mcpServer>, body: unknown): Promise<void> {
  const { req, res } = context;
  context.respond = false;
  // The client has gone already: nothing would say so again.
  if (res.closed) return;
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, keepAliveMs: KEEP_ALIVE_MS });
  const closed = once(res, 'close');
  try {
    await server.connect(transport);
    await transport.handleRequest(req, res, body);
    await closed;
  } finally {
    await server.close();
  }
}
