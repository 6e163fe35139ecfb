import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';

/** @typedef {{ release: string, arch: string }} Kind what unpacked packages have to fit: a checkout may be carried to another machine */

/**
 * Where packages are unpacked. Those of Debian on another distribution have a folder of their own, for their libraries
 * are not to be mixed with others. @param {string} root @param {Kind} machine @param {boolean} fromDebian
 */
export function unpackedFolder(root, { release, arch }, fromDebian) {
  return `${root}/.tools/${release}-${arch}${fromDebian ? '-from-debian' : ''}`;
}

/** The folders of the programs that were unpacked; they need not exist. @param {string} root @param {Kind} machine */
export function programFolders(root, machine) {
  return [false, true].map((fromDebian) => `${unpackedFolder(root, machine, fromDebian)}/bin`);
}

/** Where the packages keep the programs that we start. @type {Record<string, string>} */
const programs = {
  'chromium-headless-shell': 'usr/lib/chromium/chromium-headless-shell',
  'redis-server': 'usr/bin/redis-server',
  ffmpeg: 'usr/bin/ffmpeg',
};

/**
 * Makes each unpacked package's program startable as `bin/<package>`, with the libraries beside it. The scripts are
 * written last: what is in `bin` is whole. @param {string} folder @param {string[]} packages
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
 * The script that starts an unpacked program, wherever the checkout is by then.
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

/** Folders that the dynamic linker has to look in: the architecture's own, and those within that hold further libraries. @param {string} folder */
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
    return []; // nothing was unpacked there
  }
}

/**
 * For machines without a configuration of fonts: those of the machine and those that were unpacked. With full hinting, letters of a page and
 * of its frames would differ in width where a device has a scale.
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
