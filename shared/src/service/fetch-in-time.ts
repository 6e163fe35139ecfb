/** A complete response; `isOk` for a status from 200 to 299. */
export type FetchedText = { status: number; isOk: boolean; headers: Headers; text: string };

/**
 * Sends a request and reads the whole response, or rejects with `<method> <url> was not answered in time` after `ms`
 * milliseconds; `init.signal` ends it early. One real timer for both: `AbortSignal.timeout` is unref'd, and a peer may
 * accept the connection and never respond.
 */
export async function fetchInTime(url: string, init: RequestInit, ms: number): Promise<FetchedText> {
  const late = new AbortController();
  const message = `${init.method ?? 'GET'} ${url} was not answered in time`;
  const timer = setTimeout(() => late.abort(new Error(message)), ms);
  const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
  try {
    const answer = await fetch(url, { ...init, signal });
    return { status: answer.status, isOk: answer.ok, headers: answer.headers, text: await textOf(answer) };
  } finally {
    clearTimeout(timer);
  }
}

/** The same text as `answer.text()`, which decodes megabytes in one piece. */
async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body ?? []) text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
}
