import { readFileSync } from 'node:fs';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type Docker from 'dockerode';

/** How a Docker engine is reached: its socket, or its address with client certificates (paths of PEM files). */
export type DockerAddress =
  | { socket: string }
  | { host: string; port: number; tls?: { ca: string; certificate: string; key: string } };

/** What every node's container is like: the body of `POST /containers/create` of Docker's API. */
export type ContainerTemplate = {
  Image: string;
  Env?: string[];
  Labels?: Record<string, string>;
  HostConfig?: object;
  NetworkingConfig?: object;
};

/**
 * A container of the scaler. `image`: the id of its image. `isRunning`: not ended; `since`: when it was created, in ms.
 */
export type SeenContainer = { name: string; image: string; isRunning: boolean; since: number };

export type DockerHost = ReturnType<typeof dockerHost>;

/** Timeout of a call to an engine. */
const CALL_MS = 15_000;
const LABEL = 'adsweep.scaler';

/**
 * The containers of the scaler `farm` on one engine. They are found by a label, so that others are never touched, and
 * are not restarted by Docker: a node that ends is replaced by one with a new name. A call rejects after `callMs`.
 */
export function dockerHost(address: DockerAddress, farm: string, template: ContainerTemplate, callMs = CALL_MS) {
  /**
   * The client is loaded by the process that scales alone: it takes a tenth of the time in which a control plane
   * starts.
   */
  const engine = async () => {
    const { default: Docker } = await import('dockerode');
    // Anew for each call: certificates are renewed while the scaler runs. Throws where one cannot be read.
    return new Docker({ ...connectionTo(address), timeout: callMs });
  };
  /** The client's own timeout ends with the beginning of an answer, and an answer that breaks off is never reported. */
  const inTime = <T>(call: Promise<T>): Promise<T> => withDeadline(call, callMs, 'a call of a Docker engine');

  return {
    /** The containers, and the id of the image that new ones get; null: the engine does not have it. */
    async read(): Promise<{ image: string | null; containers: SeenContainer[] }> {
      const docker = await engine();
      const [image, listed] = await Promise.all([
        inTime(docker.getImage(template.Image).inspect()).catch(nullIfMissing),
        inTime(docker.listContainers({ all: true, filters: { label: [`${LABEL}=${farm}`] } })),
      ]);
      const containers = listed.map(({ Names, ImageID, State, Created }) => ({
        name: Names[0]!.replace(/^\//, ''),
        image: ImageID,
        isRunning: State !== 'exited' && State !== 'dead',
        since: Created * 1000,
      }));
      return { image: image?.Id ?? null, containers };
    },

    /** Creates and starts a node with this image id. */
    async start(name: string, image: string): Promise<void> {
      const docker = await engine();
      const container = await inTime(
        docker.createContainer({
          ...template,
          name,
          Hostname: name,
          Image: image,
          Env: [...(template.Env ?? []), `ADSWEEP_NODE_ID=${name}`],
          Labels: { ...template.Labels, [LABEL]: farm },
          HostConfig: { ...template.HostConfig, RestartPolicy: { Name: 'no' } },
        }),
      );
      await inTime(container.start());
    },

    /** Asks a node to end, as SIGTERM does. */
    stop: async (name: string): Promise<void> =>
      void (await inTime((await engine()).getContainer(name).kill({ signal: 'SIGTERM' })).catch(nullIfMissing)),

    /** Removes a container, and kills what runs in it. */
    remove: async (name: string): Promise<void> =>
      void (await inTime((await engine()).getContainer(name).remove({ force: true, v: true })).catch(nullIfMissing)),
  };
}

function connectionTo(address: DockerAddress): Docker.DockerOptions {
  if ('socket' in address) return { socketPath: address.socket };
  const { host, port, tls } = address;
  if (!tls) return { protocol: 'http', host, port };
  const [ca, cert, key] = [tls.ca, tls.certificate, tls.key].map((path) => readFileSync(path));
  return { protocol: 'https', host, port, ca: ca!, cert: cert!, key: key! };
}

/** 404: it is not there. 409: a container that ends already. */
function nullIfMissing(error: { statusCode?: number }): null {
  if (error.statusCode === 404 || error.statusCode === 409) return null;
  throw error;
}
