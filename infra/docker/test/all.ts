import './containers.ts';
import './roles.ts';

/**
 * `npm run test:containers`: the images and the Compose files on a real Docker engine. Needs `docker compose` and 4 GB of memory, and takes some
 * minutes, so `npm test` leaves it out. `node infra/docker/test/roles.ts` runs one part, and
 * `scaler.ts` beside it what this leaves out, because it needs some minutes more.
 */
