import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { switchSetting, urlSetting } from '@adsweep/shared/service/settings.ts';
import { type Static, Type } from 'typebox';
import type { S3Location } from './s3-objects.ts';

/** Settings of the bucket for artifacts. */
export const bucketProperties = {
  ADSWEEP_S3_BUCKET: Type.String({
    default: '',
    pattern: '^[A-Za-z0-9._-]*$',
    mustBe: 'the name of a bucket',
    description: 'Bucket for artifacts, in place of `objects/`. Empty: the folder.',
  }),
  ADSWEEP_S3_ENDPOINT: urlSetting({
    default: '',
    pattern: '^(https?://[^?#]+)?$',
    mustBe: 'an http or https URL without ? and #',
    description: 'URL of a server with the API of S3. Empty: Amazon S3 in `ADSWEEP_S3_REGION`.',
  }),
  ADSWEEP_S3_REGION: Type.String({ default: 'us-east-1', minLength: 1, description: 'Region of the bucket.' }),
  ADSWEEP_S3_PREFIX: Type.String({
    default: '',
    pattern: '^([A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)?$',
    mustBe: 'a path without slashes at its ends, such as adsweep/files',
    description: 'What the keys of all objects begin with, before a slash.',
  }),
  ADSWEEP_S3_PATH_STYLE: switchSetting(
    'off',
    'on: the bucket is in the path of URLs, as most servers other than Amazon need it; off: in the host name.',
  ),
  ADSWEEP_S3_ENCRYPTION: Type.String({
    default: '',
    pattern: '^(AES256|aws:kms)?$',
    mustBe: 'AES256 or aws:kms',
    description: "Encryption that is asked for with each object: `AES256` or `aws:kms`. Empty: the bucket's default.",
  }),
  ADSWEEP_S3_KMS_KEY: Type.String({
    default: '',
    description: "Id of the key for `aws:kms`. Empty: the account's key.",
  }),
  ADSWEEP_S3_ACCESS_KEY: Type.String({
    default: '',
    description:
      'Id of the access key. Empty: what the AWS SDK finds: its own variables and files, or the role of the container or machine.',
  }),
  ADSWEEP_S3_SECRET_KEY: Type.String({ default: '', secret: true, description: 'Secret of the access key.' }),
};

const BucketSchema = Type.Object(bucketProperties);

/** Where artifacts are stored; null: in the data folder. Throws ConfigError for half a pair of credentials. */
export function bucketSettings(config: Static<typeof BucketSchema>): S3Location | null {
  const { ADSWEEP_S3_ACCESS_KEY: accessKeyId, ADSWEEP_S3_SECRET_KEY: secretAccessKey } = config;
  if ((accessKeyId === '') !== (secretAccessKey === ''))
    throw new ConfigError(['ADSWEEP_S3_ACCESS_KEY and ADSWEEP_S3_SECRET_KEY are set together or not at all']);
  if (config.ADSWEEP_S3_BUCKET === '') return null;
  return {
    bucket: config.ADSWEEP_S3_BUCKET,
    endpoint: config.ADSWEEP_S3_ENDPOINT,
    region: config.ADSWEEP_S3_REGION,
    prefix: config.ADSWEEP_S3_PREFIX,
    pathStyle: config.ADSWEEP_S3_PATH_STYLE === 'on',
    encryption: config.ADSWEEP_S3_ENCRYPTION,
    kmsKeyId: config.ADSWEEP_S3_KMS_KEY,
    credentials: accessKeyId === '' ? null : { accessKeyId, secretAccessKey },
  };
}
