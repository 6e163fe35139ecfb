import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { Compile } from 'typebox/compile';
import type { WorkMetrics } from '../../metrics.ts';
import type { AnswerStore } from './answer-store.ts';
import type { Chat, ChatReply, ChatRequest, ModelSettings } from './chat.ts';
import type { ModelEvidence } from './model-evidence.ts';
import { type AskModel, type Question, systemMessage, userMessage, type Verdict } from './question.ts';

export type AskParts = {
  settings: Pick<
    ModelSettings,
    'model' | 'totalMs' | 'backoffMs' | 'screenshot' | 'inputPriceMicros' | 'outputPriceMicros'
  >;
  chat: Chat;
  answers: Pick<AnswerStore, 'find' | 'remember'>;
  metrics: Pick<WorkMetrics, 'modelCalls' | 'modelTokens' | 'modelCost' | 'modelSeconds'>;
  logger: Logger;
};

/** Decisions 4: one call, and two more if it fails. */
const CALLS_MAX = 3;
const MILLION = 1_000_000;

/**
 * Asks a model, unless its answer is stored. A call that fails temporarily, or whose answer is unusable, is repeated
 * within the time limit of the question.
 */
export function askModel(parts: AskParts): AskModel {
  return async (question, evidence, signal) => {
    const request = requestOf(question, evidence, parts.settings.screenshot);
    const hash = hashOf(parts.settings.model, request);
    const read = reader(question);
    const known = await parts.answers.find(hash, new Date());
    const remembered = known && verdictOf(known.answer, read);
    if (remembered) {
      parts.metrics.modelCalls.inc({ outcome: 'remembered' });
      return remembered;
    }
    const { verdict, text } = await callUntilAnswered(parts, request, read, signal);
    if (verdict.outcome !== 'none') await parts.answers.remember(hash, text, new Date());
    return verdict;
  };
}

function requestOf(question: Question<unknown>, evidence: ModelEvidence, withScreenshot: boolean): ChatRequest {
  const { name, schema } = question;
  const screenshot = withScreenshot ? evidence.screenshot : null;
  return { name, schema, system: systemMessage(question), user: userMessage(evidence), screenshot };
}

/** The same question to the same model about the same evidence has the same hash. */
function hashOf(model: string, { name, schema, system, user, screenshot }: ChatRequest): string {
  const texts = JSON.stringify([model, name, schema, system, user]);
  return createHash('sha256')
    .update(texts)
    .update(screenshot ?? '')
    .digest('hex');
}

type Read<T> = (text: string) => T | null;

/** Reads a text as an answer to the question; null: it is none. */
function reader<T>({ schema, read }: Question<T>): Read<T> {
  const validator = Compile(schema);
  return (text) => {
    try {
      const answer: unknown = JSON.parse(text);
      return validator.Check(answer) ? read(answer) : null;
    } catch {
      return null;
    }
  };
}

function verdictOf<T>(text: string | null, read: Read<T>): Verdict<T> | null {
  if (text === null) return { outcome: 'refused' };
  const answer = read(text);
  return answer === null ? null : { outcome: 'answered', answer };
}

/** A verdict with the text that it was read from; null: there is no text. */
type Called<T> = { verdict: Verdict<T>; text: string | null };

async function callUntilAnswered<T>(
  parts: AskParts,
  request: ChatRequest,
  read: Read<T>,
  signal: AbortSignal,
): Promise<Called<T>> {
  const until = Date.now() + parts.settings.totalMs;
  const deadline = AbortSignal.timeout(parts.settings.totalMs);
  const either = AbortSignal.any([signal, deadline]);
  try {
    for (let call = 1; call <= CALLS_MAX; call++) {
      const reply = await callOnce(parts, request, read, either);
      if ('verdict' in reply) return reply;
      const wait = Math.max(reply.retryAfterMs, parts.settings.backoffMs * 2 ** (call - 1) * (0.5 + Math.random()));
      if (reply.isFinal || call === CALLS_MAX || Date.now() + wait >= until) break;
      await sleep(wait, undefined, { signal: either });
    }
  } catch (cause) {
    signal.throwIfAborted();
    if (!deadline.aborted) throw cause;
  }
  return { verdict: { outcome: 'none' }, text: null };
}

type Failed = Extract<ChatReply, { outcome: 'failed' }>;

const UNUSABLE = 'the answer does not fit the question';
const CUT_OFF =
  'the model used up its output tokens before it had answered: ADSWEEP_AI_OUTPUT_TOKENS sets how many it has';

async function callOnce<T>(
  { chat, metrics, settings, logger }: AskParts,
  request: ChatRequest,
  read: Read<T>,
  signal: AbortSignal,
): Promise<Called<T> | Failed> {
  const stopTimer = metrics.modelSeconds.startTimer();
  const reply = await chat(request, signal).finally(stopTimer);
  const failed = (failure: Failed): Failed => {
    metrics.modelCalls.inc({ outcome: failure.reason });
    logger.warn({ question: request.name, reason: failure.reason, cause: failure.cause }, 'a call to the model failed');
    return failure;
  };
  if (reply.outcome === 'failed') return failed(reply);
  const { input, output } = reply.tokens;
  metrics.modelTokens.inc({ kind: 'input' }, input);
  metrics.modelTokens.inc({ kind: 'output' }, output);
  metrics.modelCost.inc((input * settings.inputPriceMicros + output * settings.outputPriceMicros) / MILLION);
  const text = reply.outcome === 'refused' ? null : reply.text;
  const verdict = verdictOf(text, read);
  if (!verdict) {
    const isCut = reply.outcome === 'text' && reply.isCut;
    const [reason, cause] = isCut ? (['cut_off', CUT_OFF] as const) : (['unusable', UNUSABLE] as const);
    return failed({ outcome: 'failed', reason, cause, isFinal: false, retryAfterMs: 0 });
  }
  metrics.modelCalls.inc({ outcome: verdict.outcome });
  return { verdict, text };
}
