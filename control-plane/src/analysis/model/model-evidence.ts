import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { Evidence } from '../evidence/evidence.ts';

/**
 * What a model is shown of a scan: captured texts, shortened. `screenshot` is that of the first landing, or of the
 * creative. `lacksScreenshot`: there is one that could not be prepared.
 */
export type ModelEvidence = {
  pages: ModelPage[];
  creative: { url: string; html: string } | null;
  screenshot: Buffer | null;
  lacksScreenshot?: boolean;
};

/**
 * `text`: what visitors see; `unseen`: what they do not, because it is transparent, covered or cut away; absent: none,
 * or none that fits.
 */
type ModelPage = { url: string; title: string; text: string; unseen?: string; frames: string[] };

const PAGES_MAX = 4;
const FRAMES_MAX = 10;
const URL_LENGTH_MAX = 1_000;
const PAGE_TEXT_MAX = 8_000;
const FRAME_TEXT_MAX = 1_000;
const CREATIVE_HTML_MAX = 8_000;

/** The evidence that a model is shown parts of. */
export type ModelSubject = Pick<Evidence, 'landings' | 'documents' | 'creative' | 'creativeHtml'>;

/** The evidence without what no model is shown, so that little of a large page is copied between threads. Pure. */
export function modelSubject({ landings, documents, creative, creativeHtml }: ModelSubject): ModelSubject {
  const shown = landings.slice(0, PAGES_MAX);
  return {
    landings: shown.map((landing) => ({ ...landing, redirect_chain: [] })),
    documents: shown.flatMap(({ ord }) => {
      const own = documents.filter(({ landing }) => landing === ord);
      const page = own.find(({ frame }) => frame === '');
      const frames = own.filter(({ frame, text }) => frame !== '' && text.trim() !== '').slice(0, FRAMES_MAX);
      return [...(page ? [page] : []), ...frames].map((one) => {
        const { seen, unseen } = textsOf(one, PAGE_TEXT_MAX);
        return { ...one, text: seen + unseen, page_length: seen.length, html: '' };
      });
    }),
    creative: creative && { ...creative, redirect_chain: [] },
    creativeHtml: clip(creativeHtml, CREATIVE_HTML_MAX),
  };
}

/** What a model is shown: landings with their texts, and the HTML of the creative. Pure. */
export function modelEvidence(
  { landings, documents, creative, creativeHtml }: ModelSubject,
  screenshot: Buffer | null,
): ModelEvidence {
  const pages = landings.slice(0, PAGES_MAX).map(({ ord, final_url, page_title }): ModelPage => {
    const own = documents.filter(({ landing }) => landing === ord);
    const { seen, unseen } = textsOf(own.find(({ frame }) => frame === '') ?? { text: '' }, PAGE_TEXT_MAX);
    const frames = own.filter(({ frame }) => frame !== '').map((frame) => textsOf(frame, FRAME_TEXT_MAX).seen);
    return {
      url: clip(final_url, URL_LENGTH_MAX),
      title: clip(page_title, URL_LENGTH_MAX),
      text: seen,
      ...(unseen !== '' && { unseen }),
      frames: frames.filter(Boolean).slice(0, FRAMES_MAX),
    };
  });
  const html = clip(creativeHtml, CREATIVE_HTML_MAX);
  return { pages, screenshot, creative: creative && { url: clip(creative.url ?? '', URL_LENGTH_MAX), html } };
}

/** Whether there is anything to judge. */
export const saysSomething = ({ pages, creative, screenshot }: ModelEvidence): boolean =>
  screenshot !== null ||
  (creative?.html ?? '') !== '' ||
  pages.some(({ title, text, unseen, frames }) => title !== '' || text !== '' || unseen || frames.length > 0);

/** What is seen of a document and what is not, at most `max` characters together. */
function textsOf({ text, page_length = text.length }: Pick<CapturedDocument, 'text' | 'page_length'>, max: number) {
  const seen = clip(text.slice(0, page_length), max);
  return { seen, unseen: clip(text.slice(page_length), max - seen.length) };
}

const clip = (text: string, max: number): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, max).toWellFormed();
