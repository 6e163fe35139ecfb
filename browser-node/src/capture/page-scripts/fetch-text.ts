export type FetchTextRequest = { url: string; timeoutMs: number; bytesMax: number };
/** What a fetch gave; `fault` '' = an answer came, whatever its status. `url`: where it came from in the end. */
export type FetchedText = { url: string; statusCode: number; contentType: string; text: string; fault: string };

/** Runs in the page, in a world of its own: fetches a document as a player does, with cookies, up to `bytesMax` bytes of it. */
export async function fetchText({ url, timeoutMs, bytesMax }: FetchTextRequest): Promise<FetchedText> {
  const answer = { url, statusCode: 0, contentType: '', text: '', fault: '' };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  try {
    const response = await fetch(url, { credentials: 'include', signal: stop.signal });
    answer.url = response.url || url;
    answer.statusCode = response.status;
    answer.contentType = response.headers.get('content-type') ?? '';
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let bytes = 0;
    for (let part = await reader?.read(); part && !part.done && bytes < bytesMax; part = await reader?.read()) {
      bytes += part.value.byteLength;
      answer.text += decoder.decode(part.value, { stream: true });
    }
    stop.abort();
  } catch (error) {
    answer.fault = stop.signal.aborted ? 'net::ERR_TIMED_OUT' : String(error);
  } finally {
    clearTimeout(timer);
  }
  return answer;
}
