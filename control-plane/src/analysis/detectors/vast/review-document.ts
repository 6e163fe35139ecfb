import type { XmlElement } from '@adsweep/shared/vast/xml.ts';
import { ELEMENT_RULES, VALUE_RULES, type ValueRule } from './value-rules.ts';

/** Something in a document that the standard does not allow, in words that name its section. */
export type Problem = { kind: 'value' | 'missing' | 'insecure'; text: string };

const SHOWN_MAX = 80;
/** What is inside of these is not the standard's. */
const FOREIGN = new Set(['Extensions', 'CreativeExtensions', 'AdParameters', 'VerificationParameters']);
/** Elements whose text is an address (VAST 4.3, 2.3.3). */
const ADDRESSES = new Set(
  (
    'Impression Error Viewable NotViewable ViewUndetermined VASTAdTagURI ClickThrough ClickTracking CustomClick Tracking MediaFile ' +
    'InteractiveCreativeFile Mezzanine IFrameResource StaticResource JavaScriptResource CompanionClickThrough CompanionClickTracking ' +
    'NonLinearClickThrough NonLinearClickTracking IconClickThrough IconClickTracking IconViewTracking'
  ).split(' '),
);

/** What is wrong with the form of a VAST document, each thing once. Pure. */
export function reviewDocument(root: XmlElement): Problem[] {
  const version = Number.parseFloat(attribute(root, 'version') ?? '') || 2;
  const problems = walk(root, [], version);
  return [...new Map(problems.map((problem) => [problem.text, problem])).values()];
}

function walk(element: XmlElement, path: string[], version: number): Problem[] {
  if (FOREIGN.has(element.name)) return [];
  const own = [...wrongValues(element), ...missingElements(element, path, version), ...wrongAddress(element)];
  return [...own, ...element.children.flatMap((child) => walk(child, [...path, element.name], version))];
}

function wrongValues(element: XmlElement): Problem[] {
  return VALUE_RULES.filter(({ of }) => of.split('@')[0] === element.name).flatMap((rule) => {
    const [, name] = rule.of.split('@');
    const value = name === undefined ? element.text.trim() : attribute(element, name)?.trim();
    return wrongValue(rule, value);
  });
}

function wrongValue({ of, section, required, must, holds }: ValueRule, value: string | undefined): Problem[] {
  if (value === undefined)
    return required ? [{ kind: 'missing', text: `${of} is missing (VAST 4.3, ${section})` }] : [];
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

/** Relative addresses have no meaning once a document was handed on; http ones are not loaded on https pages. */
function wrongAddress({ name, text }: XmlElement): Problem[] {
  const address = text.trim();
  if (!ADDRESSES.has(name) || address === '') return [];
  const shown = address.slice(0, SHOWN_MAX);
  if (/^http:/i.test(address)) return [{ kind: 'insecure', text: `${name} ${shown}` }];
  if (/^(https:|data:|\[|%%|\$\{|\{)/i.test(address)) return [];
  return [{ kind: 'value', text: `${name} "${shown}" must be an absolute http(s) URI (VAST 4.3, 2.3.3)` }];
}

function attribute({ attributes }: XmlElement, name: string): string | undefined {
  const key = Object.keys(attributes).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : attributes[key];
}
