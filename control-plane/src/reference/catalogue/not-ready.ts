import { ApiError } from '../../http/api-error.ts';

/** A 503 for what cannot be judged before the catalogue has been read once. */
export function catalogueNotReady(): ApiError {
  const detail = 'The targeting catalogue has not been read yet; try again shortly.';
  return new ApiError('catalogue.not_ready', detail, { headers: { 'Retry-After': '5' } });
}
