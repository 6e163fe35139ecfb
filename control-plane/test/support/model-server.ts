import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ModelSettings } from '../../src/analysis/model/chat.ts';

/** What a model was asked, as far as tests look at it. */
export type Asked = {
  authorization: string;
  model: string;
  system: string;
  /** Text and pictures as they were sent. */
  user: string | { type: string; text?: string; image_url?: { url: string } }[];
  schema: { name: string; strict: boolean; schema: Record<string, unknown> };
  outputTokensMax: number;
};

/**
 * How the server meets a call: an object is the model's answer, a text is sent as its message whatever it says; null:
 * there is no text.
 */
export type Behaviour =
  | { answers: object | string | null; usage?: object; finish_reason?: string }
  | 'refuses'
  | 'filters'
  | 'filters_input'
  | 'hangs'
  | 'hangs_up'
  | 'is_no_api'
  | 'never_ends'
  | { status: number; headers?: Record<string, string> };

/** What the model says of a page when it says nothing special. */
export const USUAL = { ai_category: 'Gambling and betting', ai_subcategory: 'Online casino', iab_id: '181' };

/** A server that speaks the protocol of `/chat/completions`, and behaves as a test wants it to. */
export async function modelServer() {
  const asked: Asked[] = [];
  const around = { behave: (_: Asked): Behaviour | Promise<Behaviour> => ({ answers: USUAL }) };
  const server = createServer(async (request, response) => {
    const question = await readCall(request);
    asked.push(question);
    send(response, await around.behave(question));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

  const settings: ModelSettings = {
    ...{ baseUrl, apiKey: 'key-of-the-model', model: 'model-1', callMs: 30_000, totalMs: 60_000, backoffMs: 1 },
    ...{ outputTokensMax: 4_000, screenshot: false, inputPriceMicros: 2_000_000, outputPriceMicros: 10_000_000 },
  };
  return {
    settings,
    asked,
    around,
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type ModelServer = Awaited<ReturnType<typeof modelServer>>;

async function readCall(request: IncomingMessage): Promise<Asked> {
  // biome-ignore lint/suspicious/noExplicitAny: a client's body
  const body = (await json(request)) as any;
  const [system, user] = body.messages;
  return {
    authorization: request.headers.authorization ?? '',
    model: body.model,
    system: system.content,
    user: user.content,
    schema: body.response_format.json_schema,
    outputTokensMax: body.max_completion_tokens,
  };
}

function send(response: ServerResponse, behaviour: Behaviour): void {
  const sendJson = (status: number, value: object, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  const tokens = { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050 };
  const complete = (message: object, finish_reason = 'stop', usage: object = tokens) =>
    sendJson(200, {
      ...{ id: 'completion-1', object: 'chat.completion', created: 1, model: 'model-1' },
      choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
      usage,
    });
  if (behaviour === 'hangs') return;
  if (behaviour === 'hangs_up') response.destroy();
  else if (behaviour === 'refuses') complete({ refusal: 'I cannot help with that.' });
  else if (behaviour === 'filters') complete({}, 'content_filter');
  else if (behaviour === 'filters_input') sendJson(400, { error: { code: 'content_filter', message: 'filtered' } });
  else if (behaviour === 'is_no_api') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
  else if (behaviour === 'never_ends') flood(response);
  else if ('status' in behaviour) sendJson(behaviour.status, { error: { message: 'no' } }, behaviour.headers);
  else {
    const { answers, usage, finish_reason = 'stop' } = behaviour;
    const content = answers === null || typeof answers === 'string' ? answers : JSON.stringify(answers);
    complete({ content }, finish_reason, usage);
  }
}

/** An answer of spaces that does not end. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = ' '.repeat(65_536);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}
