import { SUBJECT_ORD } from '@adsweep/shared/capture/capture.ts';
import { type CollectorName, type Note, type NoteKind, noteWords } from '@adsweep/shared/capture/notes.ts';

/** The judgements that rest on the text of pages: detectors by name, and the rules. */
const TEXT = [
  ...[
    'scareware',
    'phishing_form',
    'malicious_script',
    'fake_update',
    'paste_to_run',
    'push_lure',
    'forced_subscription',
  ],
  'rules',
];
const FORMS = ['phishing_form', 'fake_system_dialog', 'forced_subscription'];
const SCRIPTS = ['malicious_script', 'phishing_form', 'paste_to_run', 'push_lure', 'rules'];
const CREATIVE = ['creative_empty', 'creative_interactive'];
const VIDEO = ['vast_media', 'vast_techniques', 'vast_trackers', 'vast_form'];

/** The judgements that rest on what a collector records; the screenshots are themselves what a scan is for. */
export const JUDGED_BY: Record<CollectorName, readonly string[]> = {
  main_thread: ['cpu_hog'],
  worker_load: ['cpu_hog', 'crypto_mining'],
  child_flood: ['cpu_hog'],
  auto_redirect: ['auto_redirect', 'app_store_redirect', 'forced_subscription'],
  auto_download: ['auto_download', 'fake_update'],
  popups: ['popup_bomb', 'app_store_redirect', 'forced_subscription', 'scareware'],
  dialogs: ['dialog_loop', 'scareware'],
  certificates: ['invalid_certificate'],
  documents: TEXT,
  page_parts: FORMS,
  autosound: ['autosound', 'scareware'],
  fingerprints: ['fingerprinting'],
  frame_weight: ['heavy_ad'],
  placements: ['hidden_ad', 'stacked_ads', 'pixel_stuffing'],
  screenshots: ['screenshot'],
  page_picture: ['screenshot'],
  creative_interactive: ['creative_interactive'],
  contents: SCRIPTS,
  unprompted_calls: ['fullscreen_lock', 'clipboard_access', 'vibrate', 'push_prompt', 'push_lure', 'scareware'],
  after_activation: TEXT,
  back_button: ['back_button', 'scareware'],
  requests: ['crypto_mining', 'phishing_form', 'rules'],
  redirect_chain: ['forced_subscription', 'rules'],
  vast: VIDEO,
};

/** What observations are judged by. */
const OBSERVED = [...new Set(Object.values(JUDGED_BY).flat())].filter(
  (name) => !['screenshot', 'rules', ...VIDEO].includes(name),
);

const judgedBy = ({ collector }: Note): readonly string[] => (collector ? JUDGED_BY[collector] : []);

/**
 * The judgements that rest on what a note says is missing; none: the scan and its report mention it, and are complete.
 */
const RESTING: Record<NoteKind, readonly string[] | ((note: Note) => readonly string[])> = {
  // The screenshot of a scan is that of its subject.
  picture: ({ landing }) => (landing === null || landing === SUBJECT_ORD ? ['screenshot'] : []),
  picture_part: [],
  text: TEXT,
  texts: TEXT,
  text_part: TEXT,
  html_part: [],
  title: ['rules'],
  frames: TEXT,
  // Frames of whose addresses no frame was read.
  frames_beyond_limit: TEXT,
  forms: FORMS,
  closed: ({ landing }) => (landing === SUBJECT_ORD ? ['screenshot', ...TEXT] : []),
  landings: TEXT,
  creative: CREATIVE,
  creative_picture: ['screenshot'],
  creative_html: ['scareware', 'malicious_script', 'fake_update', 'paste_to_run', 'push_lure', 'rules'],
  // Where it leads is not known either.
  ad_gone: [...CREATIVE, ...TEXT],
  click: [...CREATIVE, ...TEXT],
  ads: ['vast_media', 'vast_trackers'],
  // No judgement of a page rests on its ads, which have scans of their own.
  ad_blocks: [],
  ad_frames: [],
  ad_screens: [],
  contents: SCRIPTS,
  contents_closed: [],
  // Bounds of the contract (spec 8).
  contents_beyond_limit: [],
  requests_beyond_limit: [],
  requests: JUDGED_BY.requests,
  trackers: ['vast_trackers'],
  observations: ({ collector }) => (collector ? JUDGED_BY[collector] : OBSERVED),
  hops: JUDGED_BY.redirect_chain,
  texts_cut: [],
  files: [],
  collector_failed: judgedBy,
  collector_frames: judgedBy,
  collector_timed_out: judgedBy,
  traffic: ['rules'],
  // What a page would have done with the answers is not known.
  gateway: [...new Set([...OBSERVED, ...TEXT])],
  late_requests: [],
  unsettled: [],
  stopped_busy: [],
  stopped_flood: [],
  // Requests that follow such a flood are not recorded.
  stopped_console: JUDGED_BY.requests,
  dialogs: [],
};

/** The names of the judgements that rest on what a note says is missing. Pure. */
export function judgementsWithout(note: Note): readonly string[] {
  const resting = RESTING[note.kind];
  return typeof resting === 'function' ? resting(note) : resting;
}

/**
 * The most judgements that are named in one item of a scan's error, and the most items; of the others, it has the
 * count.
 */
const NAMED_MAX = 5;
const ITEMS_MAX = 10;

/**
 * What a scan's judgements lacked, for its `error`:
 * `the text of landing 0 could not be read: scareware phishing_form 5 more`. Empty if nothing was missing that they
 * rest on. Pure.
 */
export function missingEvidence(notes: readonly Note[]): string[] {
  const items = notes.flatMap((note) => {
    const names = judgementsWithout(note);
    if (names.length === 0) return [];
    const more = names.length > NAMED_MAX ? [`${names.length - NAMED_MAX} more`] : [];
    return [`${noteWords(note)}: ${[...names.slice(0, NAMED_MAX), ...more].join(' ')}`];
  });
  const more = items.length - ITEMS_MAX;
  return more > 0 ? [...items.slice(0, ITEMS_MAX), `${more} further parts of the capture`] : items;
}
