/** `lengthMax` in characters (UTF-16 code units). */
export type FetchTextRequest = { url: string; timeoutMs: number; lengthMax: number };
/** The result of a fetch; `fault` '' = there was a response, whatever its status. `url`: after redirects. */
export type FetchedText = { url: string; statusCode: number; contentType: string; text: string; fault: string };

/**
 * Runs in the page, in an isolated world: fetches the beginning of an XML document as a player does, with cookies. The
 * text is decoded by its byte order mark, its media type or its own declaration, in this order (RFC 7303, 3.2 and 3.3).
 */
export async function fetchText({ url, timeoutMs, lengthMax }: FetchTextRequest): Promise<FetchedText> {
  // A character takes at most three bytes of UTF-8.
  const bytesMax = 3 * lengthMax;
  const answer = { url, statusCode: 0, contentType: '', text: '', fault: '' };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const decode = async () => {
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    const mark =
      bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff && 'utf-16be';
    const declared = /^\s*<\?xml[^>]{0,80}encoding\s*=\s*["']([\w.:-]{1,40})/.exec(
      String.fromCharCode(...bytes.slice(0, 200)),
    )?.[1];
    // A declaration that can be read as ASCII is not UTF-16, whatever it declares.
    const own = declared && !/^utf-?16/i.test(declared) ? declared : 'utf-8';
    const label = mark || /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(answer.contentType)?.[1] || own;
    try {
      return new TextDecoder(label).decode(bytes);
    } catch {
      return new TextDecoder().decode(bytes);
    }
  };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  try {
    const response = await fetch(url, { credentials: 'include', signal: stop.signal });
    answer.url = response.url || url;
    answer.statusCode = response.status;
    answer.contentType = response.headers.get('content-type') ?? '';
    const reader = response.body?.getReader();
    let bytes = 0;
    for (let part = await reader?.read(); part && !part.done && bytes < bytesMax; part = await reader?.read()) {
      bytes += part.value.byteLength;
      parts.push(part.value);
    }
    stop.abort();
  } catch (error) {
    answer.fault = stop.signal.aborted ? 'net::ERR_TIMED_OUT' : String(error);
  } finally {
    clearTimeout(timer);
  }
  answer.text = (await decode()).slice(0, lengthMax);
  return answer;
}
