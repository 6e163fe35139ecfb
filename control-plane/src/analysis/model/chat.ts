import type { TSchema } from 'typebox';

/** Where the model is and how it is called; times in ms, prices in micros for a million tokens. */
export type ModelSettings = {
  baseUrl: string;
  apiKey: string;
  model: string;
  /** For one call, and for a question with all its calls. */
  callMs: number;
  totalMs: number;
  /** Before the second call, where the server does not say how long; then twice as long. */
  backoffMs: number;
  /** Whether a picture goes along. */
  screenshot: boolean;
  inputPriceMicros: number;
  outputPriceMicros: number;
};

/** One call. `schema` is the form of its answer. */
export type ChatRequest = { name: string; system: string; user: string; screenshot: Buffer | null; schema: TSchema };

/** How a call ended. `retryAfterMs` is what the server asked for; `isFinal`: it would fail again. */
export type ChatReply =
  | { outcome: 'text'; text: string; tokens: Tokens }
  | { outcome: 'refused'; tokens: Tokens }
  | { outcome: 'failed'; reason: CallFailure; cause: unknown; isFinal: boolean; retryAfterMs: number };
export type Tokens = { input: number; output: number };
export type CallFailure = 'timeout' | 'rate_limited' | 'unusable' | 'error';

/** Makes one call to a model. Rejects only where `signal` ends it. */
export type Chat = (request: ChatRequest, signal: AbortSignal) => Promise<ChatReply>;

const NO_TOKENS: Tokens = { input: 0, output: 0 };
const OUTPUT_TOKENS_MAX = 4_000;
const ANSWER_BYTES_MAX = 1_000_000;
/** Answers that would be the same if the call were made again. */
const RETRIED = new Set([408, 409, 429]);

/**
 * Calls `/chat/completions` of an OpenAI-compatible server for an answer of a JSON schema. The client comes with the first call: it is
 * large, and most installations have no model.
 */
export function openChat({ baseUrl, apiKey, model, callMs }: ModelSettings): Chat {
  let client: Promise<Client> | null = null;
  return async (request, signal) => {
    client ??= openClient(baseUrl, apiKey);
    const { openai, errors } = await client;
    const timeout = AbortSignal.timeout(callMs);
    try {
      const body = { model, max_completion_tokens: OUTPUT_TOKENS_MAX, ...bodyOf(request) };
      const completion = await openai.chat.completions.create(body, { signal: AbortSignal.any([signal, timeout]) });
      return readCompletion(completion);
    } catch (cause) {
      signal.throwIfAborted();
      if (timeout.aborted) return failed('timeout', cause);
      return cause instanceof errors.APIError ? readRefusal(cause) : failed('error', cause);
    }
  };
}

type Client = Awaited<ReturnType<typeof openClient>>;

/** Nothing is taken from variables that are meant for other programs. */
async function openClient(baseURL: string, apiKey: string) {
  const { OpenAI, APIError } = await import('openai');
  const none = { adminAPIKey: null, organization: null, project: null, webhookSecret: null };
  const own = { fetch: fetchLimited, maxRetries: 0, logLevel: 'off' as const };
  const openai = new OpenAI({ baseURL, apiKey: apiKey || 'none', ...none, ...own });
  return { openai, errors: { APIError } };
}

/** An answer that is larger than any answer breaks off. */
async function fetchLimited(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  let left = ANSWER_BYTES_MAX;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength;
      if (left < 0) controller.error(new Error(`an answer of more than ${ANSWER_BYTES_MAX} bytes`));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(limit) ?? null, response);
}

type ApiError = InstanceType<Client['errors']['APIError']>;
type Completion = Awaited<ReturnType<Client['openai']['chat']['completions']['create']>>;

function bodyOf({ name, system, user, screenshot, schema }: ChatRequest) {
  const text = { type: 'text' as const, text: user };
  const url = screenshot && `data:image/webp;base64,${screenshot.toString('base64')}`;
  const content = url ? [text, { type: 'image_url' as const, image_url: { url } }] : user;
  return {
    messages: [
      { role: 'system' as const, content: system },
      { role: 'user' as const, content },
    ],
    response_format: {
      type: 'json_schema' as const,
      json_schema: { name, strict: true, schema: JSON.parse(JSON.stringify(schema)) as Record<string, unknown> },
    },
  };
}

/** Decisions 4: refused = `message.refusal`, `finish_reason: content_filter`, or 400 with the code `content_filter`. */
function readCompletion(completion: Completion): ChatReply {
  const { choices, usage } = completion as Exclude<Completion, AsyncIterable<unknown>>;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const tokens = { input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0 };
  if (choice?.message?.refusal || choice?.finish_reason === 'content_filter') return { outcome: 'refused', tokens };
  const text = choice?.message?.content;
  return typeof text === 'string' ? { outcome: 'text', text, tokens } : failed('unusable', 'an answer without text');
}

function readRefusal(error: ApiError): ChatReply {
  const { status, code, headers } = error;
  if (status === 400 && code === 'content_filter') return { outcome: 'refused', tokens: NO_TOKENS };
  const isFinal = status !== undefined && status < 500 && !RETRIED.has(status);
  const seconds = Number(headers?.get('retry-after') ?? 0);
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
  return { ...failed(status === 429 ? 'rate_limited' : 'error', error), isFinal, retryAfterMs };
}

function failed(reason: CallFailure, cause: unknown) {
  return { outcome: 'failed' as const, reason, cause, isFinal: false, retryAfterMs: 0 };
}
