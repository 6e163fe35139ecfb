import type { CapturedBody, CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { SCRIPT_SIGNATURES, type ScriptSignature } from './script-signatures.ts';
import { tagsIn } from './tags-in.ts';

/** Types of what is no script, and articles as a framework carries them: nothing of it is run. */
const IS_NO_SCRIPT = /\stype="(?!module|text\/javascript|application\/javascript|text\/ecmascript|text\/vbscript)[^"]/;
const IS_CARRIED_TEXT = /^\s*\(?self\.__next_f/;
const INLINE_MAX = 500;

/** Scripts, of files and of documents, that do what is known of malicious ones. */
export const maliciousScript: Detector<'bodies' | 'documents'> = {
  name: 'malicious_script',
  needs: ['bodies', 'documents'],
  detect: ({ bodies, documents }) => [
    ...bodies.flatMap((body) => (isScript(body) ? findingsIn(body.text ?? '', body.url) : [])),
    ...documents.flatMap((document) => inlineScripts(document).flatMap((script) => findingsIn(script, document.url))),
  ],
};

const isScript = ({ resource_type, content_type }: CapturedBody): boolean =>
  resource_type === 'script' || /(java|ecma)script/i.test(content_type);

function inlineScripts({ html }: CapturedDocument): string[] {
  const scripts: string[] = [];
  for (const { attributes, end } of tagsIn(html, ['script'])) {
    const close = html.indexOf('</script', end);
    if (close < 0 || scripts.length >= INLINE_MAX) break;
    const script = html.slice(end, close);
    if (script && !IS_NO_SCRIPT.test(attributes) && !IS_CARRIED_TEXT.test(script)) scripts.push(script);
  }
  return scripts;
}

function findingsIn(script: string, url: string): Finding[] {
  const found = matchingSignatures(script).map(({ name }) => name);
  if (found.length === 0) return [];
  return [
    { tag_slug: 'malicious_script', detail: `a script looks like ${found.join(', and like ')}`, url, surface: 'page' },
  ];
}

/** The signatures that a script matches. Pure. Most scripts have no word that a signature begins with: they cost one search. */
export function matchingSignatures(script: string): ScriptSignature[] {
  if (!ANY_START.test(script)) return [];
  const compact = script.replace(/\s+/g, '').toLowerCase();
  return SCRIPT_SIGNATURES.filter(
    ({ starts, all, lengthMax = Number.POSITIVE_INFINITY }) =>
      script.length <= lengthMax &&
      starts.some((start) => new RegExp(start).test(script)) &&
      all.every((words) => words.some((word) => compact.includes(word))),
  );
}

/** What any of the signatures begins with. */
const ANY_START = new RegExp(SCRIPT_SIGNATURES.flatMap(({ starts }) => starts).join('|'));
