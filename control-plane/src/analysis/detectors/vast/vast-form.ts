import { readVast } from '@adsweep/shared/vast/read-vast.ts';
import { asVast2 } from '@adsweep/shared/vast/vast-one.ts';
import { parseXml, type XmlElement } from '@adsweep/shared/vast/xml.ts';
import type { Detector } from '../detector.ts';
import { ELEMENT_RULES, VALUE_RULES, type ValueRule } from './value-rules.ts';

const SLUGS: Record<Problem['kind'], string> = {
  value: 'vast_invalid_value',
  missing: 'vast_missing_element',
  insecure: 'vast_insecure_url',
};
/** Problems of one kind that a finding names; it counts the others. */
const NAMED_MAX = 6;

/** Documents that violate the standard: invalid values, missing elements, URLs without encryption. */
export const vastForm: Detector<'vastDocuments'> = {
  name: 'vast_form',
  needs: ['vastDocuments'],
  detect: ({ vast, vastDocuments }) =>
    vastDocuments.flatMap(({ rung, text }) => {
      const root = parseXml(text);
      if (!root || !readVast(root)) return [];
      const problems = Map.groupBy(reviewDocument(root), ({ kind }) => kind);
      const url = vast?.rungs[rung]?.url ?? '';
      return [...problems].map(([kind, all]) => ({
        tag_slug: SLUGS[kind],
        detail: describe(kind, all),
        url: /^https?:/i.test(url) ? url : '',
        surface: 'creative' as const,
      }));
    }),
};

function describe(kind: Problem['kind'], all: readonly Problem[]): string {
  const named = all.slice(0, NAMED_MAX).map(({ text }) => text);
  const more = all.length > NAMED_MAX ? `; ${all.length - NAMED_MAX} more` : '';
  const opening = kind === 'insecure' ? 'requested by http, which https pages do not load (Mixed Content, 4): ' : '';
  return `${opening}${named.join('; ')}${more}`;
}

/** A violation of the standard, in words that name the section. */
type Problem = { kind: 'value' | 'missing' | 'insecure'; text: string };

const SHOWN_MAX = 80;
/** Elements whose content the standard does not define. */
const FOREIGN = new Set(['Extensions', 'CreativeExtensions', 'AdParameters', 'VerificationParameters']);
/** Elements whose text is a URI. */
const URI_ELEMENTS = new Set(
  (
    'Impression Error Viewable NotViewable ViewUndetermined VASTAdTagURI ClickThrough ClickTracking CustomClick Tracking MediaFile ' +
    'InteractiveCreativeFile Mezzanine ClosedCaptionFile IFrameResource StaticResource JavaScriptResource CompanionClickThrough CompanionClickTracking ' +
    'NonLinearClickThrough NonLinearClickTracking IconClickThrough IconClickTracking IconViewTracking'
  ).split(' '),
);

/**
 * The violations of the standard in a VAST document, each once. VAST 1.x is judged by the elements of VAST 2.0. Pure.
 */
function reviewDocument(document: XmlElement): Problem[] {
  const root = asVast2(document);
  const version = root === document ? Number.parseFloat(attribute(root, 'version') ?? '') || 2 : 1;
  const problems = walk(root, [], version);
  return [...new Map(problems.map((problem) => [problem.text, problem])).values()];
}

function walk(element: XmlElement, path: string[], version: number): Problem[] {
  if (FOREIGN.has(element.name)) return [];
  const own = [
    ...wrongValues(element, path, version),
    ...missingElements(element, path, version),
    ...wrongUri(element),
  ];
  return [...own, ...element.children.flatMap((child) => walk(child, [...path, element.name], version))];
}

function wrongValues(element: XmlElement, path: string[], version: number): Problem[] {
  return VALUE_RULES.filter((rule) => applies(rule, element, path, version)).flatMap((rule) => {
    const [, name] = rule.of.split('@');
    const value = name === undefined ? element.text.trim() : attribute(element, name)?.trim();
    return wrongValue(rule, value, version);
  });
}

function applies(
  { of, since = 0, before = Number.POSITIVE_INFINITY, notIn = '' }: ValueRule,
  { name }: XmlElement,
  path: string[],
  version: number,
): boolean {
  return of.split('@')[0] === name && version >= since && version < before && !path.includes(notIn);
}

function wrongValue(
  { of, section, required = Number.POSITIVE_INFINITY, must, holds }: ValueRule,
  value: string | undefined,
  version: number,
): Problem[] {
  if (value === undefined)
    return version >= required ? [{ kind: 'missing', text: `${of} is missing (VAST 4.3, ${section})` }] : [];
  if (holds(value)) return [];
  return [{ kind: 'value', text: `${of} "${value.slice(0, SHOWN_MAX)}" must be ${must} (VAST 4.3, ${section})` }];
}

function missingElements(element: XmlElement, path: string[], version: number): Problem[] {
  return ELEMENT_RULES.filter(({ in: where, since }) => version >= since && isIn(where, element, path))
    .filter((rule) => !element.children.some(({ name }) => name === rule.element))
    .map((rule) => ({ kind: 'missing', text: `${element.name} has no ${rule.element} (VAST 4.3, ${rule.section})` }));
}

function isIn(where: string, { name }: XmlElement, path: string[]): boolean {
  const [outer, inner] = where.split('/');
  return inner === undefined ? name === outer : name === inner && path.includes(outer as string);
}

/** Elements whose URI a click opens, in a tab, where it is no mixed content, or in an app, such as a store. */
const OPENED = /ClickThrough$/;
const OPENABLE = /^(?!javascript:)[a-z][a-z0-9+.-]*:/i;

/** Elements whose files may be streamed by another protocol (VAST 4.3, 3.9.1 and 3.9.2, `delivery`). */
const STREAMED = new Set(['MediaFile', 'Mezzanine']);

/** Files that servers transcode, and no page loads (VAST 4.3, 3.9.2). */
const TRANSCODED = new Set(['Mezzanine']);

/**
 * Relative URIs have no meaning in a document that a wrapper passed on; http ones are not loaded on https pages, only
 * opened from them.
 */
function wrongUri({ name, text }: XmlElement): Problem[] {
  const uri = text.trim();
  if (!URI_ELEMENTS.has(name) || uri === '') return [];
  const shown = uri.slice(0, SHOWN_MAX);
  if (OPENED.test(name) && OPENABLE.test(uri)) return [];
  if (/^http:/i.test(uri) && TRANSCODED.has(name)) return [];
  if (/^http:/i.test(uri)) return [{ kind: 'insecure', text: `${name} ${shown}` }];
  if (/^(https:|data:|\[|%%|\$\{|\{)/i.test(uri)) return [];
  if (STREAMED.has(name) && /^[a-z][a-z0-9+.-]*:\/\//i.test(uri)) return [];
  return [{ kind: 'value', text: `${name} "${shown}" must be an absolute http(s) URI (RFC 3986, 4.3)` }];
}

function attribute({ attributes }: XmlElement, name: string): string | undefined {
  const key = Object.keys(attributes).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : attributes[key];
}
