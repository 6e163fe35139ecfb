import type { ArtifactKind } from './artifact-kind.ts';

/** The inline document of a VAST tag with its wrappers merged in, in UTF-8. */
export const VAST_XML = 'vast.xml';
export const vastXml: ArtifactKind = { pattern: 'vast\\.xml', format: 'text', lifetimeMs: null, targets: ['vast_tag'] };
