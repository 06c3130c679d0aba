/**
 * Formats of service tokens: their prefix up to the first character that is not a letter, and a pattern of the rest.
 * To add one, add a line here and samples to `test/data/redaction-corpus.ts`.
 */
const shapes: readonly (readonly [begin: string, rest: string])[] = [
  // model providers
  ['[spr]k[-_]', '[\\w-]{16,}'], // OpenAI, Anthropic, OpenRouter, Stripe
  ['gsk_|xai-|pplx-|csk-|nvapi-|fw_|r8_', '[A-Za-z0-9-]{24,}'],
  ['hf_', '[A-Za-z0-9]{20,}'],
  ['tgp_', 'v1_[\\w-]{20,}'],
  // code and packages
  ['gh[pousr]_', '\\w{20,}'],
  ['github_', 'pat_\\w{20,}'],
  ['gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-', '[\\w-]{16,}'],
  ['npm_', '[A-Za-z0-9]{24,}'],
  ['pypi-', '[\\w-]{24,}'],
  ['rubygems_', '[a-f0-9]{32,}'],
  ['dckr_', '[po]at_[\\w-]{16,}'],
  ['figd_|glsa_|ntn_|nfp_|rnd_|whsec_|vercel_|vc[pikar]_', '[A-Za-z0-9_+/=-]{16,}'],
  ['lin_', '(?:api|oauth)_\\w{16,}'],
  ['secret_', '[A-Za-z0-9]{32,}'],
  ['PMAK-|NRAK-', '[A-Za-z0-9-]{20,}'],
  ['sntry[su]_', '[\\w=+/-]{16,}'],
  ['ATATT3|ATCTT3', '[\\w=-]{20,}'],
  // clouds
  ['A(?:KI|SI|ID|RO)A', '[0-9A-Z]{16,}'],
  ['AIza', '[\\w-]{30,}'],
  ['ya29\\.', '[\\w-]{20,}'],
  ['GOCSPX-', '[\\w-]{20,}'],
  ['LTAI', '[A-Za-z0-9]{12,}'],
  ['dapi', '[a-f0-9]{32,}'],
  ['do[opr]_', 'v1_\\w{32,}'],
  ['hv[sbr]\\.', '[\\w-]{20,}'],
  ['dp\\.', '(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9]{24,}'],
  ['pul-', '[a-f0-9]{32,}'],
  ['pscale_', '(?:tkn|pw|oauth)_[\\w.-]{20,}'],
  ['sbp_', '[a-f0-9]{24,}'],
  ['sb_', 'secret_[\\w-]{16,}'],
  ['tskey-', '[a-z]+-[\\w-]{10,}'],
  ['AGE-', 'SECRET-KEY-1[0-9A-Z]{30,}'],
  // messages and shops
  ['xox[a-z]-|xapp-', '[\\w-]{10,}'],
  ['SG\\.', '[\\w-]{16,}'],
  ['SK', '[a-f0-9]{32,}'],
  ['key-', '[a-f0-9]{32,}'],
  ['xkeysib-', '[\\w-]{32,}'],
  ['re_', '[A-Za-z0-9]{6,10}_[A-Za-z0-9]{16,}'],
  ['shp(?:at|ca|pa|ss|ua)_', '[A-Fa-f0-9]{24,}'],
  ['sq0(?:atp|csp|idp)-', '[\\w-]{20,}'],
  ['EAA', '[A-Za-z0-9]{40,}'],
];

/** Positions where a token may start. */
export const tokenStart: string = /* @__PURE__ */ (() =>
  `(?<![A-Za-z0-9])(?:${shapes.map(([begin]) => begin).join('|')})`)();

/** A token from its start, as much as identifies it. */
export const tokenShape: RegExp = /* @__PURE__ */ (() =>
  new RegExp(shapes.map(([begin, rest]) => `(?:${begin})${rest}`).join('|'), 'y'))();
