import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Texts that no published file may contain: paths of the machine it was written on, and mirrors of its packages. */
const foreign: { pattern: RegExp; why: string }[] = [
  { pattern: /(?<![\w.-])\/(?:work|root|tmp\/brief)\/[\w.-]*/, why: "a path of somebody's own machine" },
  { pattern: /(?<![\w.-])\/(?:home|Users)\/(?!node\b)[a-z][\w.-]*\//, why: "a path in somebody's home folder" },
  { pattern: /\bhttps?:\/\/(?:registry\.(?:npmjs|yarnpkg)\.|npm\.pkg\.)[\w.-]+/, why: 'a registry host' },
  { pattern: /\bhttps?:\/\/[\w.-]*(?:artifactory|verdaccio|nexus|npm-?mirror)[\w.-]*/, why: 'a registry host' },
  {
    pattern: /\bhttps?:\/\/(?:deb|security|archive|ports)\.(?:debian\.org|ubuntu\.com)/,
    why: 'a mirror of a distribution',
  },
];

const resolvedUrl = /"resolved":\s*"(?:https?|git[\w+]*):[^"]*"/;
const binary = /\.(?:png|webp|jpe?g|gif|ico|mp4|webm|mp3|woff2?|gz|tgz)$/;

/** Every forbidden text in a tracked file, as `file:line: why: text`. */
export function checkTexts(root: string): string[] {
  return trackedFiles(root)
    .filter((path) => !binary.test(path) && existsSync(join(root, path)))
    .flatMap((path) => checkText(path, readFileSync(join(root, path), 'utf8')));
}

/** The breaches in one file's text. */
export function checkText(path: string, text: string): string[] {
  const rules = path.endsWith('package-lock.json')
    ? [...foreign, { pattern: resolvedUrl, why: 'the address a package came from (omit-lockfile-registry-resolved)' }]
    : foreign;
  return text.split('\n').flatMap((line, index) =>
    rules.flatMap(({ pattern, why }) => {
      const match = pattern.exec(line);
      return match ? [`${path}:${index + 1}: ${why}: ${match[0]}`] : [];
    }),
  );
}

/** The files that git tracks; without git or a repository (an unpacked archive), all files that are not installed or generated. */
function trackedFiles(root: string): string[] {
  const git = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  if (git.status === 0) return git.stdout.split('\0').filter(Boolean);
  const produced = ['.git', 'node_modules', '.tools', '.adsweep'];
  return globSync('**/*', { cwd: root, withFileTypes: true, exclude: (entry) => produced.includes(entry.name) })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
