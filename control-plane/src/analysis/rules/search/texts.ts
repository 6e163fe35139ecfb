import type { Surface } from '@adsweep/shared/capture/network-request.ts';
import type { Evidence, Need } from '../../evidence/evidence.ts';

/** The part of a text's page or creative. */
export type Place = 'hop' | 'request' | 'title' | 'text' | 'html' | 'content';

/** A text that rules search. A match is attached to `url`: the hop, the request, or the landing's final URL. */
export type SearchedText = {
  surface: Surface;
  place: Place;
  landing: number | null;
  url: string;
  text: string;
};

/**
 * The texts that a rule type searches: URLs of redirect chains, URLs of requests, documents, or bodies of responses.
 */
export const SOURCES = ['chain', 'requests', 'documents', 'bodies'] as const;
export type Source = (typeof SOURCES)[number];

/** The parts of the evidence that each source needs in addition to the capture. */
export const NEEDS_OF: Record<Source, readonly Need[]> = {
  chain: [],
  requests: ['requests'],
  documents: ['documents', 'creativeHtml'],
  bodies: ['bodies'],
};

/** Returns the texts of a source. */
export type Texts = (source: Source) => SearchedText[];

/** The texts in `evidence`, built when a source is first requested. */
export function textsOf(evidence: Evidence): Texts {
  const built = new Map<Source, SearchedText[]>();
  const build = { chain: chainTexts, requests: requestTexts, documents: documentTexts, bodies: bodyTexts };
  return (source) => {
    const texts = built.get(source) ?? build[source](evidence);
    built.set(source, texts);
    return texts;
  };
}

function chainTexts({ landings, creative }: Evidence): SearchedText[] {
  const ofPages = landings.flatMap(({ ord, redirect_chain }) =>
    redirect_chain.map(({ url }): SearchedText => {
      return { surface: 'page', place: 'hop', landing: ord, url, text: url };
    }),
  );
  const ofCreative = (creative?.redirect_chain ?? []).map(({ url }): SearchedText => {
    return { surface: 'creative', place: 'hop', landing: null, url, text: url };
  });
  return eachOnce([...ofPages, ...ofCreative]);
}

/** Every request, and the hops: a stored scan keeps hops longer than requests. */
function requestTexts(evidence: Evidence): SearchedText[] {
  const requests = evidence.requests.map(({ url, landing, surface = 'page' }): SearchedText => {
    return { surface, place: 'request', landing, url, text: url };
  });
  return eachOnce([...requests, ...chainTexts(evidence)]);
}

/**
 * Title, visible text and rendered HTML of each landing and its frames, and of the creative's documents, and the
 * creative's HTML.
 */
function documentTexts({ landings, documents, creative, creativeHtml }: Evidence): SearchedText[] {
  const finalUrls = new Map(landings.map(({ ord, final_url }) => [ord, final_url]));
  const titles = landings.map(({ ord, final_url, page_title }): SearchedText => {
    return { surface: 'page', place: 'title', landing: ord, url: final_url, text: page_title };
  });
  const contents = documents.flatMap(({ landing, url, title, text, html }) => {
    const surface = landing === null ? ('creative' as const) : ('page' as const);
    const of = { surface, landing, url: (landing === null ? null : finalUrls.get(landing)) ?? url };
    const parts = { title, text, html };
    return (['title', 'text', 'html'] as const).map((place) => ({ ...of, place, text: parts[place] }));
  });
  const markup: SearchedText = {
    surface: 'creative',
    place: 'html',
    landing: null,
    url: creative?.url ?? '',
    text: creativeHtml,
  };
  return [...titles, ...contents, markup].filter(({ text }) => text !== '');
}

/** Bodies that were too large were captured without their text and are not searched (spec 8). */
function bodyTexts({ bodies }: Evidence): SearchedText[] {
  return bodies.flatMap(({ url, text }): SearchedText[] =>
    text === null ? [] : [{ surface: 'page', place: 'content', landing: null, url, text }],
  );
}

/** One text per surface and URL, the first of each. */
function eachOnce(texts: SearchedText[]): SearchedText[] {
  return [...new Map(texts.toReversed().map((one) => [`${one.surface} ${one.url}`, one])).values()].toReversed();
}
