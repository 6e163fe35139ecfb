import type { TargetKind } from '../../scan/target.ts';
import type { ArtifactKind } from './artifact-kind.ts';
import { bodies } from './bodies.ts';
import { companionScreenshotKind } from './companion-screenshot.ts';
import { creativeHtml } from './creative-html.ts';
import { creativeScreenshot } from './creative-screenshot.ts';
import { creativeVideo } from './creative-video.ts';
import { documents } from './documents.ts';
import { pageScreenshot } from './page-screenshot.ts';
import { screenshot, webpScreenshot } from './screenshot.ts';
import { vastDocuments } from './vast-documents.ts';
import { vastXml } from './vast-xml.ts';

/** All that a node may upload. */
const ARTIFACT_KINDS: readonly ArtifactKind[] = [
  screenshot,
  webpScreenshot,
  pageScreenshot,
  creativeScreenshot,
  creativeHtml,
  creativeVideo,
  vastXml,
  vastDocuments,
  companionScreenshotKind,
  documents,
  bodies,
];

/** Names a node may upload under, as the source of a regular expression. */
export const ARTIFACT_NAME = `^(${ARTIFACT_KINDS.map(({ pattern }) => pattern).join('|')})$`;

/** Whether a scan of this kind of target can have an artifact called `name`. */
export const mayHaveArtifact = (target: TargetKind, name: string): boolean => {
  const kind = artifactKindOf(name);
  return kind !== undefined && (kind.targets?.includes(target) ?? true);
};

/** The kind of the artifact called `name`, undefined where no kind has such a name. */
export const artifactKindOf = (name: string): ArtifactKind | undefined =>
  ARTIFACT_KINDS.find(({ pattern }) => new RegExp(`^${pattern}$`).test(name));
