import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Count, OPEN } from './fields.ts';

/** What each collector of a browser node records, in words. */
export const COLLECTORS = {
  main_thread: 'the load of main threads',
  worker_load: 'the load of workers',
  child_flood: 'floods of frames and workers',
  auto_redirect: 'redirects without a click',
  auto_download: 'downloads without a click',
  popups: 'windows that pages opened',
  dialogs: 'dialogs',
  certificates: 'invalid certificates',
  documents: 'texts and titles',
  page_parts: 'forms and prices',
  autosound: 'sound',
  fingerprints: 'fingerprinting',
  frame_weight: 'the bytes of frames',
  placements: 'the places of ads',
  screenshots: 'screenshots of landings',
  page_picture: 'the screenshot of the page',
  creative_interactive: 'which parts of the creative can be clicked',
  contents: 'contents of scripts and responses',
  unprompted_calls: 'calls without a click',
  after_activation: 'what pages show once they were used',
  back_button: 'the Back button',
  requests: 'requests',
  redirect_chain: 'redirect chains',
  vast: 'the result of the video ad tag',
} as const;
export type CollectorName = keyof typeof COLLECTORS;

/**
 * `landing`: the ordinal of the tab, null = the page of a creative, or no tab alone; `count`: how many, 0 = not known.
 */
type Details = { landing: number | null; count: number; collector: CollectorName | null };

const of = ({ landing }: Details): string => (landing === null ? 'the page' : `landing ${landing}`);
const things = ({ count }: Details, one: string, many = `${one}s`): string =>
  count === 0 ? `some ${many}` : `${count} ${count === 1 ? one : many}`;
const recorded = ({ collector }: Details): string => (collector ? COLLECTORS[collector] : 'something');

/**
 * What a capture can lack, and what was done to its pages: each kind with its sentence, without a capital letter, a
 * comma and the final full stop. Which judgements rest on what is missing is decided in the control plane
 * (`analysis/evidence/missing-evidence.ts`).
 */
export const NOTE_WORDS = {
  picture: (note) => `the screenshot of ${of(note)} could not be taken`,
  picture_part: (note) => `the screenshot of ${of(note)} shows only what was in view`,
  text: (note) => `the text of ${of(note)} could not be read`,
  texts: () => 'the texts of all pages were too large to keep',
  text_part: (note) => `the text of ${of(note)} could not be read completely`,
  html_part: (note) => `the HTML of ${of(note)} was too long and is not complete`,
  title: (note) => `the title of ${of(note)} could not be read`,
  frames: (note) => `${things(note, 'frame')} of ${of(note)} could not be read`,
  frames_beyond_limit: (note) => `${things(note, 'further frame')} of ${of(note)} were not read`,
  forms: (note) => `the forms and prices in ${things(note, 'frame')} of ${of(note)} could not be read`,
  closed: (note) => `${of(note)} closed itself before it could be inspected`,
  landings: (note) => `${things(note, 'further window')} opened and were closed without being inspected`,
  creative: () => 'not all frames that may show the creative could be measured',
  creative_picture: () => 'a screenshot of the creative could not be taken',
  creative_html: () => 'the HTML of the creative could not be read',
  ad_gone: () => 'the ad was not on the page any more when it was to be clicked',
  click: () => 'a click on the ad did not reach it in time and opened nothing',
  ads: (note) => `${things(note, 'later ad')} of the video ad tag were not played to the end`,
  ad_blocks: (note) => `${things(note, 'further ad')} of the page were left out`,
  ad_screens: () => 'the page was not scrolled to its end so that ads further down may be missing',
  ad_frames: (note) => `${things(note, 'frame')} of the page could not be searched for ads`,
  contents: (note) =>
    `the contents of ${things(note, 'script or response', 'scripts and responses')} could not be read`,
  contents_closed: (note) =>
    `the contents of ${things(note, 'script or response', 'scripts and responses')} were lost with the frames that closed`,
  contents_beyond_limit: (note) =>
    `${things(note, 'script or response', 'scripts and responses')} were recorded without contents because of their size or number`,
  requests_beyond_limit: (note) => `${things(note, 'further request')} were not recorded`,
  requests: (note) => `${things(note, 'request')} were left out because the capture was too large`,
  trackers: (note) => `${things(note, 'tracker')} were left out because the capture was too large`,
  observations: (note) => `${things(note, 'observation')} were left out because there were too many`,
  hops: (note) => `${things(note, 'redirect')} were left out because the capture was too large`,
  texts_cut: (note) => `URLs and texts were cut to ${note.count} characters because the capture was too large`,
  files: (note) => `${things(note, 'file')} were too large to keep`,
  collector_failed: (note) => `${recorded(note)} could not be recorded because of an error`,
  collector_frames: (note) => `${recorded(note)} could not be recorded in ${things(note, 'frame')} of ${of(note)}`,
  collector_timed_out: (note) => `${recorded(note)} could not be recorded in time`,
  traffic: () => 'the gateway did not report the traffic so that requests which only it saw are missing',
  gateway: (note) => `${things(note, 'request')} could not be sent because the gateway could not be reached`,
  late_requests: (note) => `requests were still under way ${note.count} s after the windows were closed`,
  unsettled: (note) => `the page was still busy after ${note.count} s and was captured as it was then`,
  stopped_busy: () => 'a page kept its main thread busy and its scripts were stopped',
  stopped_flood: () => 'a page started frames and workers without end and its scripts were stopped',
  stopped_console: () =>
    'a page caused errors or console lines or response headers or requests without end and its scripts were stopped',
  dialogs: (note) => `${things(note, 'dialog')} were closed`,
} satisfies Record<string, (note: Details) => string>;
export type NoteKind = keyof typeof NOTE_WORDS;

/**
 * Something that a capture lacks, or that was done to its pages. It has no text of a node: a node may be taken over by
 * a page.
 */
export const NoteSchema = Type.Object(
  {
    kind: Type.Enum(Object.keys(NOTE_WORDS) as NoteKind[]),
    landing: Type.Union([Type.Integer({ minimum: 0, maximum: 999 }), Type.Null()]),
    count: Count,
    collector: Type.Union([Type.Enum(Object.keys(COLLECTORS) as CollectorName[]), Type.Null()]),
  },
  OPEN,
);
export type Note = Static<typeof NoteSchema>;

/** The most notes of a capture. */
export const NOTES_MAX = 200;

export const note = (kind: NoteKind, details: Partial<Details> = {}): Note => ({
  kind,
  landing: null,
  count: 0,
  collector: null,
  ...details,
});

/** A note as a sentence. */
export const noteSentence = (one: Note): string =>
  noteWords(one)
    .replace(/^./, (first) => first.toUpperCase())
    .concat('.');

/** A note in words. */
export const noteWords = (one: Note): string => NOTE_WORDS[one.kind](one);

/** Kinds whose count is a time or a length, which is not summed. */
const MEASURES: readonly NoteKind[] = ['texts_cut', 'late_requests', 'unsettled'];

/** At most {@link NOTES_MAX} notes: those of one kind, tab and collector are one note with the sum of their counts. */
export function combineNotes(notes: readonly Note[]): Note[] {
  const combined = new Map<string, Note>();
  for (const one of notes) {
    const key = JSON.stringify([one.kind, one.landing, one.collector]);
    const known = combined.get(key);
    const count = MEASURES.includes(one.kind)
      ? Math.max(known?.count ?? 0, one.count)
      : (known?.count ?? 0) + one.count;
    combined.set(key, { ...one, count });
  }
  return [...combined.values()].slice(0, NOTES_MAX);
}

const compiled = Compile(NoteSchema);

/** The notes in a stored capture; those of earlier versions were free text, and are left out. */
export const validNotes = (all: readonly unknown[]): Note[] => all.filter((one): one is Note => compiled.Check(one));
