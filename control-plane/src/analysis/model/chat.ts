import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import type { TSchema } from 'typebox';

/** The model's server and how it is called; times in ms, prices in micros per million tokens. */
export type ModelSettings = {
  baseUrl: string;
  apiKey: string;
  model: string;
  /** Time limits of one call, and of a question with all its calls. */
  callMs: number;
  totalMs: number;
  /** The most tokens that one call may write, reasoning included. */
  outputTokensMax: number;
  /** Backoff before the second call, if the server does not set one; doubled before the third. */
  backoffMs: number;
  /** Whether a screenshot is sent. */
  screenshot: boolean;
  inputPriceMicros: number;
  outputPriceMicros: number;
};

/** One call. `schema` is that of its answer. */
export type ChatRequest = { name: string; system: string; user: string; screenshot: Buffer | null; schema: TSchema };

/**
 * How a call ended. `isCut`: its tokens did not suffice; `retryAfterMs`: the delay that the server asked for;
 * `isFinal`: it would fail again.
 */
export type ChatReply =
  | { outcome: 'text'; text: string; isCut: boolean; tokens: Tokens }
  | { outcome: 'refused'; tokens: Tokens }
  | { outcome: 'failed'; reason: CallFailure; cause: unknown; isFinal: boolean; retryAfterMs: number };
export type Tokens = { input: number; output: number };
export type CallFailure = 'timeout' | 'rate_limited' | 'cut_off' | 'unusable' | 'error';

/** Makes one call to a model. Rejects only if `signal` is aborted. */
export type Chat = (request: ChatRequest, signal: AbortSignal) => Promise<ChatReply>;

const NO_TOKENS: Tokens = { input: 0, output: 0 };
const RESPONSE_BYTES_MAX = 1_000_000;
const ERROR_TEXT_MAX = 500;
/** Client errors that the same call may not meet again. */
const RETRYABLE_STATUSES = new Set([408, 409, 429]);

/** Calls `/chat/completions` of an OpenAI-compatible server for an answer of a JSON schema. */
export function openChat({ baseUrl, apiKey, model, callMs, outputTokensMax }: ModelSettings): Chat {
  const url = `${baseUrl.replace(/\/$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
  };
  return async (request, signal) => {
    const body = JSON.stringify({ model, max_completion_tokens: outputTokensMax, ...bodyOf(request) });
    const late = new AbortController();
    // A real timer: that of AbortSignal.timeout does not keep the process alive, and fetch may wait forever for a
    // server that hung up.
    const timer = setTimeout(() => late.abort(), callMs);
    try {
      const either = AbortSignal.any([signal, late.signal]);
      const response = await fetch(url, { method: 'POST', headers, body, signal: either });
      const text = await readLimited(response);
      return response.ok ? readCompletion(text) : readError(response, text);
    } catch (cause) {
      signal.throwIfAborted();
      return failed(late.signal.aborted ? 'timeout' : 'error', cause);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The body of a response as text; throws above a megabyte. */
async function readLimited({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > RESPONSE_BYTES_MAX) throw new Error(`a response of more than ${RESPONSE_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function bodyOf({ name, system, user, screenshot, schema }: ChatRequest) {
  const url = screenshot && `data:image/webp;base64,${screenshot.toString('base64')}`;
  const content = url
    ? [
        { type: 'text', text: user },
        { type: 'image_url', image_url: { url } },
      ]
    : user;
  return {
    messages: [
      { role: 'system', content: system },
      { role: 'user', content },
    ],
    response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } },
  };
}

/** What is read of a response; servers that are compatible in part leave any of it out. */
type Completion = {
  choices?: { message?: { content?: unknown; refusal?: unknown } | null; finish_reason?: unknown }[] | null;
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
} | null;

/** Decisions 4: refused = `message.refusal`, `finish_reason: content_filter`, or 400 with the code `content_filter`. */
function readCompletion(text: string): ChatReply {
  const completion = jsonOrNull(text) as Completion;
  const choices = completion?.choices;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const { prompt_tokens, completion_tokens } = completion?.usage ?? {};
  const tokens = { input: countOf(prompt_tokens), output: countOf(completion_tokens) };
  if (choice?.message?.refusal || choice?.finish_reason === 'content_filter') return { outcome: 'refused', tokens };
  const content = choice?.message?.content;
  // An answer without text, as of a model that spent all its tokens on reasoning, costs as much and answers nothing.
  const answer = typeof content === 'string' ? content : '';
  return { outcome: 'text', text: answer, isCut: choice?.finish_reason === 'length', tokens };
}

/** A number of tokens; 0: the server does not tell, or what it tells is none. */
const countOf = (told: unknown): number => (typeof told === 'number' && Number.isFinite(told) ? Math.max(0, told) : 0);

function readError({ status, headers }: Response, text: string): ChatReply {
  const { error } = (jsonOrNull(text) ?? {}) as { error?: { code?: unknown; message?: unknown } | null };
  if (status === 400 && error?.code === 'content_filter') return { outcome: 'refused', tokens: NO_TOKENS };
  const isFinal = status < 500 && !RETRYABLE_STATUSES.has(status);
  const seconds = Number(headers.get('retry-after') ?? 0);
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
  const cause = new Error(`status ${status}: ${error?.message ?? text}`.slice(0, ERROR_TEXT_MAX));
  return { ...failed(status === 429 ? 'rate_limited' : 'error', cause), isFinal, retryAfterMs };
}

function failed(reason: CallFailure, cause: unknown) {
  return { outcome: 'failed' as const, reason, cause, isFinal: false, retryAfterMs: 0 };
}
