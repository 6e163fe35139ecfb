import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { adsweep, type Client } from '@adsweep/client/client.ts';
import { FILE_BYTES_MAX, LargeFile } from '@adsweep/client/mcp/present-result.ts';
import { mcpServer } from '@adsweep/client/mcp/server.ts';
import { chosen, type Tool, toolsOf } from '@adsweep/client/mcp/tools.ts';
import { addCount } from '@adsweep/shared/service/add-count.ts';
import { bearerCredential } from '@adsweep/shared/service/bearer.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Context, Middleware } from 'koa';
import { type Static, Type } from 'typebox';
import type { Broadcast } from '../platform/broadcast.ts';
import { ApiError, refused } from './api-error.ts';
import type { Caller } from './caller.ts';
import {
  ArrivingBodies,
  announcedBytes,
  type BodyBounds,
  organizationAsOwner,
  readJson,
  refusedBody,
} from './read-body.ts';
import { type Admit, allowOnly, type RequestState } from './serve-routes.ts';
import { compileValidator, readQuery } from './validate.ts';

const MCP_PATH = '/mcp';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** What a message has around the body of an operation. */
const AROUND_BODY: BodyBounds = { bytes: 4_096, values: 100 };
/**
 * Fields of a message, of its parameters and of the arguments of a tool: the SDK copies them in one piece. No operation
 * has as many.
 */
const FIELDS_MAX = 200;
/** Calls of one organization that are answered at the same time: waiting for scans holds a connection each. */
const CALLS_MAX = 32;
/** A comment keeps the connection open while nothing is said. */
const KEEP_ALIVE_MS = 15_000;
/**
 * Names the client that sends a message, if it has begun with `initialize`: requests of several clients have the same
 * ids. Nothing is kept of it.
 */
const SESSION_HEADER = 'Mcp-Session-Id';
/** The topic on which processes tell each other which requests their clients cancel. */
const CANCELLED = 'mcp-cancelled';

const QuerySchema = Type.Object(
  { group: Type.Optional(Type.Array(Type.String())), read_only: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
);
const validateQuery = compileValidator(QuerySchema, 'query');

export type McpParts = {
  /**
   * Where this process serves the API. Tools call it there with the credential of their caller, so that the API alone
   * decides what is allowed.
   */
  apiUrl: string;
  publicUrl: string;
  admit: Admit<Caller>;
  /** Those of the operation that takes the largest bodies. */
  bodyBounds: BodyBounds;
  /** Aborts when the process begins to stop. */
  closing: AbortSignal;
  /** The credential that its calls of the API are sent with, which the rate limit does not count again. */
  counted: (credential: string) => string;
  broadcast: Pick<Broadcast, 'send' | 'listen'>;
};

/**
 * Serves MCP by streamable HTTP: each request has its own credential, and any replica answers it. Progress is reported
 * in the response of the request that waits, which ends with its connection, or when its client cancels it, at
 * whichever replica: clients that cancel, or have waited long enough, do not disconnect. A cancellation is lost while
 * Redis is unavailable.
 */
export function serveMcp({ apiUrl, publicUrl, admit, bodyBounds, closing, counted, broadcast }: McpParts): Middleware {
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error('The service restarts: call again to go on waiting.'));
  if (closing.aborted) stop();
  closing.addEventListener('abort', stop, { once: true });
  const bounds = { bytes: bodyBounds.bytes + AROUND_BODY.bytes, values: bodyBounds.values + AROUND_BODY.values };
  const arriving = new ArrivingBodies();
  const running = new Map<string, () => void>();
  const calls = new Map<string, number>();
  let isListening = false;
  const listenOnce = () => {
    if (!isListening) void broadcast.listen(CANCELLED, (key) => running.get(key)?.());
    isListening = true;
  };
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
    const query = queryOf(context);
    const owner = organizationAsOwner(organizationId);
    const body = await arriving.share(owner, announcedBytes(context.req, bounds.bytes), () =>
      readJson(context.req, bounds),
    );
    if (Array.isArray(body)) throw new ApiError('bad_request', 'Send one message at a time.');
    requireFewFields(body);
    const message = readMessage(context, body, organizationId);
    if (message.cancels !== null) {
      // Also while so many are open that no further one is: one of them is to end.
      broadcast.send(CANCELLED, message.cancels);
      context.status = 202;
      context.body = '';
      return;
    }
    const release = begin(calls, organizationId);
    try {
      if (message.begins) context.set(SESSION_HEADER, randomUUID());
      const api = adsweep({
        url: apiUrl,
        key: counted(bearerCredential(authorization)),
        retries: 0,
        fetch: fetchWithinMemory,
      });
      const offered = choose(await readTools(api), query);
      if (message.key !== null) listenOnce();
      const server = mcpServer({ version, api, tools: offered, url: publicUrl, closing: stopping.signal });
      await answer(context, server, body, { running, key: message.key });
    } finally {
      release();
    }
  };
}

/**
 * Answers that arrive together are parsed one after the other: a page of a list may have megabytes. A file that is too
 * large to be shown is not read: a video may have 32 MB. Rejects with a {@link LargeFile} then.
 */
const fetchWithinMemory: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/json')) {
    const body = await response.arrayBuffer();
    await awaitTurn();
    return new Response(body, response);
  }
  const bytes = Number(response.headers.get('content-length'));
  if (bytes <= FILE_BYTES_MAX) return response;
  await response.body?.cancel();
  throw new LargeFile(type, bytes);
};

function requireFewFields(body: unknown): void {
  const fieldOf = (of: unknown, name: string): unknown => (of as Record<string, unknown> | null | undefined)?.[name];
  const params = fieldOf(body, 'params');
  for (const one of [body, params, fieldOf(params, 'arguments'), fieldOf(params, '_meta')])
    if (typeof one === 'object' && one !== null && Object.keys(one).length > FIELDS_MAX)
      throw refusedBody('too_many_values', `A message has at most ${FIELDS_MAX} fields and arguments.`);
}

/**
 * What a message is to others of its client: whether it begins a session, the key by which others cancel it, and that
 * of the request that it cancels (hashes, as clients choose how long ids are); null: none. The session is not trusted:
 * it only keeps clients of one organization apart.
 */
function readMessage(context: Context, body: unknown, organizationId: string) {
  const { method, id, params } = (body ?? {}) as { method?: unknown; id?: unknown; params?: { requestId?: unknown } };
  const session = context.get(SESSION_HEADER);
  const keyOf = (request: unknown): string | null =>
    session === '' || request === undefined
      ? null
      : createHash('sha256')
          .update(JSON.stringify([organizationId, session, request]))
          .digest('base64url');
  return {
    begins: method === 'initialize',
    key: keyOf(id),
    cancels: method === 'notifications/cancelled' ? keyOf(params?.requestId) : null,
  };
}

/** Counts a call of an organization; the returned function ends it. Throws 429 if too many are open. */
function begin(calls: Map<string, number>, organizationId: string): () => void {
  const open = calls.get(organizationId) ?? 0;
  if (open >= CALLS_MAX) {
    const headers = { 'Retry-After': '5' };
    throw new ApiError('rate_limited', `Your organization has ${open} open calls of tools.`, { headers });
  }
  addCount(calls, organizationId, 1);
  return () => void addCount(calls, organizationId, -1);
}

/** A page of another site must not call tools from its reader's browser (MCP, transports: `Origin`). */
function refuseForeignPage(context: Context, publicUrl: string): void {
  const origin = context.get('origin');
  if (origin !== '' && origin !== new URL(publicUrl).origin)
    throw new ApiError('forbidden', 'Pages of other sites cannot call tools.');
}

type Query = Static<typeof QuerySchema>;

/** Throws 422 for a parameter that is not known: a misspelt one would offer tools that were to be left out. */
function queryOf(context: Context): Query {
  const query = readQuery(QuerySchema, new URLSearchParams(context.querystring));
  const { issues, isWhole } = validateQuery(query);
  if (issues.length > 0) throw refused(issues, isWhole);
  return query as Query;
}

function choose(tools: Tool[], { group: groups = [], read_only: readOnly = false }: Query): Tool[] {
  try {
    return chosen(tools, { groups, readOnly });
  } catch (error) {
    throw new ApiError('not_found', (error as Error).message);
  }
}

/**
 * Answers one message; resolves when the response has ended or the client has gone, which ends the work too. Until then
 * `running` has under its key what ends it early.
 */
async function answer(
  context: Context,
  server: ReturnType<typeof mcpServer>,
  body: unknown,
  { running, key }: { running: Map<string, () => void>; key: string | null },
): Promise<void> {
  const { req, res } = context;
  context.respond = false;
  // The client has gone already: nothing would say so again.
  if (res.closed) return;
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, keepAliveMs: KEEP_ALIVE_MS });
  const closed = once(res, 'close');
  const end = () => void server.close();
  if (key !== null) running.set(key, end);
  try {
    await server.connect(transport);
    await transport.handleRequest(req, res, body);
    await closed;
  } finally {
    if (key !== null && running.get(key) === end) running.delete(key);
    await server.close();
  }
}
