import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';

/** @typedef {{ release: string, arch: string }} Kind the machine that unpacked packages must fit: a checkout may be copied to another one */

/**
 * Where packages are unpacked. Debian's packages on another distribution have a folder of their own, because libraries must not be
 * mixed. @param {string} root @param {Kind} machine @param {boolean} fromDebian
 */
export function unpackedFolder(root, { release, arch }, fromDebian) {
  return `${root}/.tools/${release}-${arch}${fromDebian ? '-from-debian' : ''}`;
}

/** The folders of unpacked programs; they need not exist. @param {string} root @param {Kind} machine */
export function programFolders(root, machine) {
  return [false, true].map((fromDebian) => `${unpackedFolder(root, machine, fromDebian)}/bin`);
}

/** The paths of the programs within their packages. @type {Record<string, string>} */
const programs = {
  'chromium-headless-shell': 'usr/lib/chromium/chromium-headless-shell',
  'redis-server': 'usr/bin/redis-server',
  ffmpeg: 'usr/bin/ffmpeg',
};

/**
 * Writes a start script `bin/<package>` for each unpacked package, which sets its library path. The scripts are written last, so that what
 * is in `bin` is complete. @param {string} folder @param {string[]} packages
 */
export function writeStarters(folder, packages) {
  writeFileSync(`${folder}/fonts.conf`, fontsConfiguration);
  mkdirSync(`${folder}/bin`, { recursive: true });
  const libraries = libraryFolders(folder);
  for (const name of packages) {
    const partial = `${folder}/bin/.${name}.partial`;
    writeFileSync(partial, starter(/** @type {string} */ (programs[name]), libraries), { mode: 0o755 });
    renameSync(partial, `${folder}/bin/${name}`);
  }
}

/**
 * The script that starts an unpacked program; the checkout may be moved.
 * @param {string} program @param {string[]} libraries both relative to the folder of what was unpacked
 */
function starter(program, libraries) {
  return `#!/bin/sh
here=$(cd "\${0%/*}/.." && pwd)
unset PWD OLDPWD
export LD_LIBRARY_PATH="${libraries.map((path) => `$here/${path}`).join(':')}"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/${program}" "$@"
`;
}

/** The library path: the architecture's folders, and folders in them that contain libraries. @param {string} folder */
function libraryFolders(folder) {
  return ['usr/lib', 'lib'].flatMap((lib) =>
    foldersIn(`${folder}/${lib}`)
      .filter((name) => name.endsWith('-linux-gnu'))
      .flatMap((name) => {
        const within = foldersIn(`${folder}/${lib}/${name}`).map((inner) => `${lib}/${name}/${inner}`);
        return [`${lib}/${name}`, ...within.filter((path) => holdsLibrary(`${folder}/${path}`))];
      }),
  );
}

/** @param {string} path */
function holdsLibrary(path) {
  return readdirSync(path).some((name) => /^lib.*\.so(\.|$)/.test(name));
}

/** @param {string} path */
function foldersIn(path) {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    return []; // nothing is unpacked there
  }
}

/**
 * For machines without a fontconfig configuration: the machine's fonts and the unpacked ones. With full hinting, the same letters would have
 * different widths in a page and in its frames on a device with a scale factor.
 */
const fontsConfiguration = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <match target="pattern"><edit name="hintstyle" mode="append"><const>hintslight</const></edit></match>
</fontconfig>
`;
