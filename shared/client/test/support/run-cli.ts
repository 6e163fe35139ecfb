import { main } from '../../src/cli/main.ts';

/** That `webhooks listen` signs with. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Runs the command line in this process, as if its output were a pipe or a file. */
export async function runCli(
  url: string,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const to = (name: keyof typeof written) => ({
    write: (chunk: unknown) => {
      written[name] += String(chunk);
      return true;
    },
  });
  const env = {
    ADSWEEP_URL: url,
    ADSWEEP_API_KEY: 'key',
    ADSWEEP_WEBHOOK_SECRET: SECRET,
    XDG_CONFIG_HOME: '/nonexistent',
  };
  const code = await main(args, { env, stdout: to('stdout'), stderr: to('stderr') } as Parameters<typeof main>[1]);
  return { code, ...written };
}
