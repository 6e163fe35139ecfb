import type { Evidence, Need } from '../../evidence/evidence.ts';
import type { SearchRule } from '../rule.ts';

/** Where in a scan a rule found something. */
export type Place = 'hop' | 'request' | 'title' | 'text' | 'html' | 'content';

/** A text that rules search. `url` is what a match is attached to: the hop, the request, or the landing's final URL. */
export type SearchedText = {
  surface: 'page' | 'creative';
  place: Place;
  landing: number | null;
  url: string;
  text: string;
};

/** What rules may look at beside the capture: the markup of a creative, '' where there is none. */
export type SearchedEvidence = Evidence & { creative_html: string };

/** What a rule's texts are taken from. */
export type Source = 'chain' | 'requests' | 'documents' | 'bodies';

/** What each type of rule searches (spec 2.6). */
export const SOURCE_OF: Record<SearchRule['rule_type'], Source> = {
  stopword_content: 'documents',
  stopword_url: 'chain',
  regexp_content: 'documents',
  regexp_url: 'chain',
  regexp_request_url: 'requests',
  regexp_request_body: 'bodies',
  blacklist_domain: 'chain',
};

/** The evidence that a source is made of, beside landings. */
export const needOf = (source: Source): Need[] => (source === 'chain' ? [] : [source]);

/** The texts of each source, made when they are asked for first. */
export type Texts = (source: Source) => SearchedText[];

/** What rules search in `evidence`. */
export function textsOf(evidence: SearchedEvidence): Texts {
  const made = new Map<Source, SearchedText[]>();
  const make = { chain: chainTexts, requests: requestTexts, documents: documentTexts, bodies: bodyTexts };
  return (source) => {
    const texts = made.get(source) ?? make[source](evidence);
    made.set(source, texts);
    return texts;
  };
}

function chainTexts({ landings, creative }: SearchedEvidence): SearchedText[] {
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

/** Every request with the hops, which a stored scan keeps for longer than its requests. */
function requestTexts(evidence: SearchedEvidence): SearchedText[] {
  const requests = evidence.requests.map(({ url, landing, surface = 'page' }): SearchedText => {
    return { surface, place: 'request', landing, url, text: url };
  });
  return eachOnce([...requests, ...chainTexts(evidence)]);
}

/** Title, visible text and rendered HTML of each landing and its frames; of a creative, its markup. */
function documentTexts({ landings, documents, creative, creative_html }: SearchedEvidence): SearchedText[] {
  const finalUrls = new Map(landings.map(({ ord, final_url }) => [ord, final_url]));
  const titles = landings.map(({ ord, final_url, page_title }): SearchedText => {
    return { surface: 'page', place: 'title', landing: ord, url: final_url, text: page_title };
  });
  const contents = documents.flatMap(({ landing, url, title, text, html }) => {
    const of = { surface: 'page' as const, landing, url: finalUrls.get(landing) ?? url };
    const parts = { title, text, html };
    return (['title', 'text', 'html'] as const).map((place) => ({ ...of, place, text: parts[place] }));
  });
  const markup: SearchedText = {
    ...{ surface: 'creative', place: 'html', landing: null },
    ...{ url: creative?.url ?? '', text: creative_html },
  };
  return [...titles, ...contents, markup].filter(({ text }) => text !== '');
}

/** What is too large was recorded by its URL alone, and is not searched (spec 8). */
function bodyTexts({ bodies }: SearchedEvidence): SearchedText[] {
  return bodies.flatMap(({ url, text }): SearchedText[] =>
    text === null ? [] : [{ surface: 'page', place: 'content', landing: null, url, text }],
  );
}

function eachOnce(texts: SearchedText[]): SearchedText[] {
  return [...new Map(texts.toReversed().map((one) => [`${one.surface} ${one.url}`, one])).values()].toReversed();
}
