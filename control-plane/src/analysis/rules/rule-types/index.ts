import { combo } from './combo.ts';
import { blacklistDomain } from './domains.ts';
import { regexpContent, regexpRequestBody, regexpRequestUrl, regexpUrl } from './expressions.ts';
import { llm } from './llm.ts';
import { registryOf } from './rule-type.ts';
import { stopwordContent, stopwordUrl } from './stopwords.ts';

/** All types of rules, by name (spec 2.6). */
export const RULE_TYPES = registryOf({
  stopword_content: stopwordContent,
  stopword_url: stopwordUrl,
  regexp_content: regexpContent,
  regexp_url: regexpUrl,
  regexp_request_url: regexpRequestUrl,
  regexp_request_body: regexpRequestBody,
  blacklist_domain: blacklistDomain,
  combo,
  llm,
});
