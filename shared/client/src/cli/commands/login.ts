import { adsweep } from '../../client.ts';
import { ask } from '../ask.ts';
import { command, expectUrl, expectWords } from '../command.ts';
import { saveConfig } from '../config.ts';

export const login = command({
  name: 'login',
  args: '',
  summary: 'keep the URL of a deployment and a key for it in a file that only you can read',
  options: {},
  async run(words, _, { config, json, terminal }) {
    expectWords(words);
    const { url: current, file } = config;
    const url = expectUrl((await ask(`URL (${current}): `)) || current);
    const key = await ask('API key: ', { secret: true });
    const { id, name } = await adsweep({ url, key }).getAccount();
    saveConfig(file, { url, key });
    if (json) terminal.json({ id, name, url, file });
    else terminal.print(`${name}, kept in ${file}`);
    return 0;
  },
});
