import { type Capture, emptyCapture } from '@adsweep/shared/capture/capture.ts';

/** Fills up to `bytes` with as many `piece`s as fit between `before` and `after`. */
function filled(bytes: number, before: string, piece: string, after: string): string {
  const room = bytes - before.length - after.length;
  return before + piece.repeat(Math.floor(room / piece.length)) + after;
}

/** The bodies of at most `bytes` that are the most expensive to parse and validate, by their content. `field`: a known list field. */
export function worstBodies(bytes: number, field: string): Record<string, string> {
  return {
    'a list of numbers': filled(bytes, `{"${field}":[`, '0,', '0]}'),
    'a list of 4,900 numbers': `{"${field}":[${'0,'.repeat(4_900)}0]}`,
    'a list of empty objects': filled(bytes, `{"${field}":[`, '{},', '{}]}'),
    'unknown fields': `{${Array.from({ length: Math.floor(bytes / 14) }, (_, at) => `"f${at}":0`).join()}}`.slice(
      0,
      bytes,
    ),
    'the same field again': filled(bytes, '{', '"a":0,', '"a":0}'),
    'nested lists': filled(bytes / 2, '', '[', '') + filled(bytes / 2, '', ']', ''),
    'one text': filled(bytes, '{"url":"', 'x', '"}'),
    'one text of accents': filled(bytes, '{"url":"http://', 'é', '"}').slice(0, bytes / 2),
    'one text of escapes': filled(bytes, '{"url":"http://', '\\u00e9', '"}'),
    'one text of lone surrogates': filled(bytes, `{"${field}":["`, '\\ud800', '"]}'),
    'texts of lone surrogates': filled(bytes, `{"${field}":[`, '"\\ud800",', '""]}'),
    'one number': filled(bytes, `{"${field}":[`, '9', ']}'),
    'one name of a field': filled(bytes, '{"', 'n', '":0}'),
    'a text that never ends': filled(bytes, '{"a":"', '\\"', ''),
  };
}

/** The largest captures that a node may send, and invalid ones that are detected last. */
export function worstCaptures(bytes: number): Record<string, unknown> {
  const request = (id: number, url: string) => ({
    id,
    url,
    method: 'GET',
    resource_type: 'script',
    status_code: 200,
    content_type: 'application/javascript; charset=utf-8',
    body_size: 123_456,
    timestamp_ms: 12_345,
    landing: 0,
    hop: 0,
    initiator: id === 0 ? null : id - 1,
  });
  const requestsOf = (count: number) => {
    const length = Math.floor(bytes / count) - 260;
    return Array.from({ length: count }, (_, id) =>
      request(id, `https://a.example/${'x'.repeat(Math.max(1, length))}`),
    );
  };
  const hops = Array.from({ length: 200 }, () => ({
    url: `https://a.example/${'x'.repeat(100)}`,
    kind: 'http' as const,
    status_code: 302,
    content_type: 'text/html',
    body_size: 1,
    timestamp_ms: 3,
    redirected_from: `https://a.example/${'x'.repeat(100)}`,
  }));
  const landing = (ord: number, redirect_chain: typeof hops) => ({
    ord,
    opener_url: '',
    final_url: 'https://a.example/',
    page_title: 'A page',
    site_name: '',
    redirect_chain,
    screenshot: null,
    opened_at_ms: 0,
    elapsed_ms: 0,
  });
  const capture = (changes: Partial<Capture>): Capture => ({
    ...emptyCapture({
      started_at: '2026-01-02T03:04:05.000Z',
      elapsed_ms: 1,
      browser: { name: 'Chromium', version: '1' },
    }),
    landings: [landing(0, [])],
    ...changes,
  });
  const wrong = requestsOf(5_000).map((one) => ({ ...one, id: -1, status_code: 'x', landing: 'x' }));
  return {
    'a capture of 5,000 requests': capture({ requests: requestsOf(5_000) }),
    'a capture of 150 requests': capture({ requests: requestsOf(150) }),
    'a capture of 30 chains': capture({ landings: Array.from({ length: 30 }, (_, ord) => landing(ord, hops)) }),
    'a capture of 5,000 wrong requests': { ...capture({}), requests: wrong },
    'a capture of 33,000 empty requests': { ...capture({}), requests: Array(33_000).fill({}) },
  };
}
