/**
 * What the redactor has to hide and what it has to leave alone. Add a line for every form that was missed or hidden by
 * mistake. A secret stands between « and »; all else of a text has to stay readable.
 */

const V = 'hunter2-Q7xSECRET';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Made up, and put together here so that no scanner takes it for a real one. */
const made = (begin: string, length: number): string => {
  const letters = 'aB3dE5fG7hJ9kLmN2pQ4rS6tU8vWxYz';
  return begin + Array.from({ length }, (_, i) => letters[(i * 7) % letters.length]).join('');
};
const hex = (begin: string, length: number): string =>
  begin + 'deadbeef12345678'.repeat(6).slice(0, length);
const upper = (begin: string, length: number): string =>
  begin + 'ABCD1234EFGH5678IJKL'.repeat(4).slice(0, length);

/** One entry for each word of a list, under its name. */
const each = (words: string, entry: (word: string) => string): Record<string, string> =>
  Object.fromEntries(words.split(/\s+/).map((word) => [word, entry(word)]));

/** Tokens of services, each hidden wherever it stands. */
export const tokens: Readonly<Record<string, string>> = {
  OpenAI: made('sk-', 48),
  'OpenAI, project': made('sk-proj-', 60),
  'OpenAI, service account': made('sk-svcacct-', 60),
  Anthropic: made('sk-ant-api03-', 90),
  OpenRouter: made('sk-or-v1-', 60),
  'Stripe, live': made('sk_live_', 24),
  'Stripe, restricted': made('rk_live_', 24),
  'Stripe, webhook': made('whsec_', 32),
  Groq: made('gsk_', 52),
  xAI: made('xai-', 80),
  Perplexity: made('pplx-', 48),
  Nvidia: made('nvapi-', 64),
  Replicate: made('r8_', 37),
  'Hugging Face': made('hf_', 34),
  Together: made('tgp_v1_', 43),
  'GitHub, personal': made('ghp_', 36),
  'GitHub, OAuth': made('gho_', 36),
  'GitHub, user': made('ghu_', 36),
  'GitHub, server': made('ghs_', 36),
  'GitHub, refresh': made('ghr_', 36),
  'GitHub, fine-grained': `${made('github_pat_', 22)}_${made('', 59)}`,
  GitLab: made('glpat-', 20),
  'GitLab, with dashes': `glpat-${V}abcdef`,
  'GitLab, deploy': made('gldt-', 20),
  'GitLab, runner': made('glrt-', 20),
  npm: made('npm_', 36),
  PyPI: made('pypi-AgEIcHlwaS5vcmc', 80),
  RubyGems: hex('rubygems_', 48),
  Docker: made('dckr_pat_', 27),
  Figma: made('figd_', 40),
  Grafana: made('glsa_', 32),
  Notion: made('ntn_', 46),
  Netlify: made('nfp_', 36),
  Vercel: made('vercel_', 24),
  Linear: made('lin_api_', 40),
  Postman: hex('PMAK-', 60),
  'New Relic': upper('NRAK-', 27),
  Sentry: made('sntrys_', 60),
  Atlassian: made('ATATT3', 60),
  'AWS key id': upper('AKIA', 16),
  'AWS temporary key id': upper('ASIA', 16),
  'Google API key': made('AIza', 35),
  'Google OAuth': made('ya29.', 60),
  'Google client': made('GOCSPX-', 28),
  Alibaba: made('LTAI', 20),
  Databricks: hex('dapi', 32),
  DigitalOcean: hex('dop_v1_', 64),
  Vault: made('hvs.', 60),
  Doppler: made('dp.pt.', 43),
  Pulumi: hex('pul-', 40),
  PlanetScale: made('pscale_tkn_', 43),
  Supabase: hex('sbp_', 40),
  'Supabase, secret': made('sb_secret_', 30),
  Tailscale: made('tskey-auth-', 30),
  age: upper('AGE-SECRET-KEY-1', 58),
  'Slack, bot': 'xoxb-123456789012-1234567890123-abcdefABCDEF0123456789ab',
  'Slack, app': made('xapp-1-A1-123-', 36),
  SendGrid: `${made('SG.', 22)}.${made('', 43)}`,
  Twilio: hex('SK', 32),
  Mailgun: hex('key-', 32),
  Brevo: hex('xkeysib-', 64),
  Resend: `${made('re_', 8)}_${made('', 24)}`,
  Shopify: hex('shpat_', 32),
  Square: made('sq0atp-', 22),
  Facebook: made('EAA', 60),
  JWT: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${made('', 43)}`,
  'JWT, unsigned': 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0',
  'JSON with a password in base64': base64(JSON.stringify({ user: 'ada', password: V })),
  // kin of those above: every beginning that the redactor knows
  ...each(
    `pk_live_ csk- fw_ glcbt- glptt- glft- glimt- glagent- glsoat- glffct- dckr_oat_ rnd_ vcp_ vci_ vck_ vca_ vcr_ lin_oauth_
    secret_ sntryu_ ATCTT3 hvb. hvr. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. pscale_pw_ pscale_oauth_ sq0csp- sq0idp-
    xoxp- xoxa-`,
    (begin) => made(begin, 40),
  ),
  ...each('doo_v1_ dor_v1_ shpca_ shppa_ shpss_ shpua_', (begin) => hex(begin, 64)),
  ...each('AIDA AROA', (begin) => upper(begin, 16)),
};

const pemBody = made('MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 160).replace(/(.{64})/g, '$1\n');
const pem = (label: string): string =>
  `-----BEGIN ${label}-----\n${pemBody}\n-----END ${label}-----`;

/** Texts with secrets in them. */
export const positives: Readonly<Record<string, string>> = {
  // names of keys, as JSON
  ...Object.fromEntries(
    `password Password PASSWORD passwords passwd pwd dbPwd pass passphrase passcode secret secrets clientSecret client_secret
    api_key api-key apiKey apiKeys api_keys x-api-key xApiKey X-Goog-Api-Key token csrfToken authToken auth.token id_token
    access_token accessTokens refresh_token refreshToken api_token apiToken apiTokens api_tokens session_token sessionToken
    X-Auth-Token GITHUB_TOKEN NPM_TOKEN HF_TOKEN SLACK_BOT_TOKEN slack_token personalAccessToken deviceToken bearer jwt
    secretAccessKey aws_secret_access_key accessKeyId privateKey private_key signingKey encryption_key masterKey
    webhookSecret authorization Authorization Proxy-Authorization cookie Cookie set-cookie cookies sessionCookie credential
    credentials userCredentials connectionString AccountKey SharedAccessKey otp totp cvv cvc db_pass userpass smtp_pass
    mailpass ftp_pass ssh_pass root_pass admin_pass proxy_pass redis_pass sql_pass pgpass auth_pass keypass storepass
    aws_access_key_id sharedAccessSignature github_pat gitlab_pat gh_pat git_pat azure_pat connectionStrings secret_key
    priv_key accessKey decryptionKey signature_key ssh_key gpg_key pgp_key hmac_key aes_key rsa_key tls_key ssl_key
    storage_key shared_key subscription-key license_key deploy_key webhook_key auth_key service_key server_key host_key app_key
    jwt_key auth_tokens refresh_tokens bearer_tokens session_tokens id_tokens csrf_tokens xsrf_tokens device_tokens
    bot_tokens github_tokens npm_tokens slack_tokens hf_tokens personal_tokens security_tokens secret_tokens
    service_tokens app_tokens deploy_tokens client_tokens oauth_tokens jwt_tokens push_tokens reset_tokens`
      .split(/\s+/)
      .map((key) => [`"${key}" in JSON`, `{"a":1,"${key}":"«${V}»","b":2} is what came`]),
  ),
  // JSON between words, cut off, escaped
  'JSON with blanks': `{ "password" : "«${V}»" }`,
  'JSON cut off in the secret': `it sent {"user":"bob","password":"«${V}»`,
  'JSON cut off behind the secret': `it sent {"password":"«${V}»","note":"and so`,
  'a list': `POST {"Set-Cookie":«["sid=Q7xV8k2p","lang=Q9"]»} failed`,
  'a list that is cut off': `it sent {"credentials":«["Q7xV8k2p","b8Z»`,
  'an object': `failed: {"credentials":«{"user":"ada","pin":"Q7xV8k2p"}»} again`,
  'an object that is cut off': `{"credentials":«{"user":"ada9","pin":"Q7xV8k2p»`,
  'an object in an object': `x {"password":«{"old":{"v":"Q7xV8k2p"},"n":[1,"Z3"]}»,"c":"kept"} y`,
  'an object with brackets in its strings': `x {"secret":«{"a":"]}Q7xV8k2p"}»,"c":"kept"} y`,
  'escaped once': String.raw`body "{\"password\":\"«${V}»\",\"user\":\"bob\"}" sent`,
  'escaped twice': String.raw`body "{\\\"password\\\":\\\"«${V}»\\\",\\\"user\\\":\\\"bob\\\"}" sent`,
  'an escaped list': String.raw`body "{\"credentials\":[\"«Q7xV8k2p»\"],\"user\":\"bob\"}" sent`,
  'an escaped list that is cut off by its string': String.raw`{"body":"{\"credentials\":[\"«Q7xV8k2p»","user":"bob"}, ok`,
  'a key with an escaped letter': String.raw`{"pass\u0077ord":"«${V}»", "a"`,
  'a key with a letter of no width': `{"pass\u200bword":"«${V}»"}`,
  ...Object.fromEntries(
    'pаssword sеcret passwоrd рassword seсret apikeу apі_key paѕsword passworԁ'
      .split(' ')
      .map((key) => [`a letter of another alphabet: ${key}`, `{"${key}":"«${V}»"}`]),
  ),
  'a number under a password': '{"password":«12345678»,"n":1}',
  'a secret with quotes in it': String.raw`x {"password":"«a\"hunter2\"zz»","user":"bob"}`,
  // what languages print
  inspect: `{ user: 'bob', password: '«${V}»' }`,
  'inspect, a list': `Error: { headers: { 'set-cookie': [ '«Q7xV8k2p»' ] } }`,
  'inspect, an object': `Error: { credentials: «{ user: 'bob9', pin: 'Q7xV8k2p' }», n: 1 }`,
  backticks: `apiKey: \`«${V}»\``,
  Python: `{'user': 'bob', 'password': '«${V}»', 'n': 1}`,
  'Python, bytes': `{'password': b'«${V}»'}`,
  'Python, assignment': `password = "«${V}»"`,
  'Python, three quotes': `password = """«${V}»"""`,
  'Python, environment': `os.environ["API_KEY"] = "«${V}»"`,
  Ruby: `{:password=>"«${V}»", :n=>1}`,
  PHP: `['password' => '«${V}»', 'n' => 1]`,
  Go: `{Password:«${V}» User:bob}`,
  'Go, assignment': `password := "«${V}»"`,
  JavaScript: `const apiKey = '«${V}»';`,
  TypeScript: `const config = { dbPassword: "«${V}»", port: 5432 };`,
  'Java properties': `spring.datasource.password=«${V}»`,
  TOML: `api_key = "«${V}»"`,
  INI: `password = «${V}»`,
  XML: `<password>«${V}»</password>`,
  'a keyword argument': `connect(user=bob, password=«${V}»)`,
  // YAML
  YAML: `user: bob\npassword: «${V}»\nport: 5432`,
  'YAML, a plain word': 'user: bob\npassword: «swordfish»\nport: 5432',
  'YAML, quoted': `password: '«${V}»'`,
  'YAML, flow': `{ api_key: «${V}», user: bob }`,
  'YAML, a block': `secret: |\n  «first-line-9»\n  «second-line-9»\nport: 5432`,
  'YAML, a map': 'credentials:«\n  user: ada9\n  pin: Q7xV8k2p»\nport: 5432',
  'YAML, a list': 'api_tokens:\n  - «Q7xV8k2p»\n  - «Z3kP9w1m»\nport: 5432',
  // environments
  environment: `DB_PASSWORD=«${V}» PORT=5432`,
  'environment, plain word': 'DB_PASSWORD=«swordfish» PORT=5432',
  'environment, export': `export DB_PASS=«${V}»`,
  'environment, quoted': `export DB_PASSWORD="«${V}»"`,
  'environment, with blanks': `export API_TOKEN='«two words 9»'`,
  'environment, lines': `PORT=1\nSTRIPE_SECRET_KEY=«${V}»\nFOO_TOKEN=«Q7xV8k2p»\nHOST=db`,
  'environment, in JSON': String.raw`{"env":"PORT=1\nFOO_TOKEN=«Q7xV8k2p»\nHOST=db"}`,
  'environment, a token': `GITHUB_TOKEN=«${made('ghp_', 36)}»`,
  'a list of variables': `[{"name":"API_KEY","value":"«${V}»"}]`,
  // headers
  header: `x-api-key: «${V}»`,
  'header, plain': 'X-Auth-Token: «swordfish»',
  'header, bearer': `Authorization: «Bearer ${V}»`,
  'header, basic': `Authorization: Basic «${base64(`bob:${V}`)}»`,
  'header, proxy': `Proxy-Authorization: Basic «${base64(`bob:${V}`)}»`,
  'header, token': `Authorization: token «${V}»`,
  'header, digest': `Authorization: Digest «username="bob", response="${V}"»\nAccept: */*`,
  'header, AWS': `Authorization: AWS4-HMAC-SHA256 «Credential=AKIA/x, Signature=deadbeef99»\nAccept: */*`,
  'header, bare': `Authorization: «${V}»`,
  'header, cookie': 'Cookie: «sid=Q7xV8k2p; theme=dark9»\nAccept: */*',
  'header, set-cookie': 'Set-Cookie: «sid=Q7xV8k2p; HttpOnly»\nAccept: */*',
  'header, in curl': `curl -H "Authorization: «Bearer ${V}»" https://example.com`,
  'header, cookie in curl': `curl -H 'Cookie: «sid=Q7xV8k2p»' https://example.com/kept`,
  'headers, listed': `[{"name":"Cookie","value":"«sid=Q7xV8k2p»"}]`,
  'bearer alone': `401 for «Bearer ${V}»`,
  'bearer over lines': `«bearer\n  ${V}»`,
  'basic alone': `Basic «${base64(`bob:${V}`)}»`,
  // addresses
  'user and password': `https://bob:«${V}»@example.com/x`,
  'a password with @': `redis://:«p@ssQ7x»@cache:6379`,
  'two @': `https://u:«p@${V}»@h/kept`,
  'a password with /': `postgres://u:«pa/${V}»@h/kept`,
  'no user': `redis://:«${V}»@h/0`,
  'a token as user': `https://«${V}»@github.com/x`,
  'several hosts': `mongodb://bob:«${V}»@h1:27017,h2:27017/db?x=1`,
  query: `https://a.example/x?token=«${V}»&city=Rome`,
  'query, key': `https://maps.example/x?key=«${V}»&city=Rome`,
  'query, signature': `https://s3.example/x?X-Amz-Signature=«${V}»&X-Amz-Credential=«${V}»`,
  'query, plain signature': `https://a.example/x?signature=«${V}»&city=Rome`,
  'query, Google': `https://a.example/x?X-Goog-Signature=«${V}»&X-Goog-Credential=«${V}»`,
  'query, sas': `https://x.example/c?sv=1&sig=«${V}»`,
  'query, encoded': `redirect=https%3A%2F%2Fa%3Fpassword%3D«${V}»`,
  'connection string': `Server=db;User Id=sa;Password=«${V}»;Encrypt=True`,
  'connection string, short': `Server=db;Uid=sa;Pwd=«${V}»;`,
  'connection string, Azure': `AccountName=x;AccountKey=«${base64(V)}»;EndpointSuffix=y`,
  libpq: `host=db password=«${V}» user=x`,
  'Slack webhook': 'https://hooks.slack.com/services/«T00000000/B00000000/Q7xV8k2pQ7xV8k2p»',
  'Discord webhook': 'https://discord.com/api/webhooks/«123456789012345678/Q7xV8k2p-Q7xV8k2p»',
  // commands
  flag: `mysql --password «${V}» --host db`,
  'flag with =': `mysql --password=«${V}» --host db`,
  'flag, quoted': `mysql --api-key '«${V}»' --host db`,
  // sentences
  'a sentence': `The password is «${V}», keep it.`,
  'a sentence, quoted': `The password is "«${V}»".`,
  'a sentence with a colon': `Password: «${V}» and more words`,
  bold: `**Password:** «${V}»`,
  'bold, other way': `- **API key**: \`«${V}»\``,
  'two words': `API key: «${V}»`,
  ...each('phrase code word', (word) => `Pass ${word}: «${V}»`),
  'two words, connection string': `Connection string: «${V}»`,
  'two words, access tokens': `Your access tokens: «${V}» now`,
  'two words, access token': `Your access token is «${V}» now`,
  // private keys
  'private key': `Here: «${pem('PRIVATE KEY')}» kept`,
  'RSA private key': `«${pem('RSA PRIVATE KEY')}»\nkept`,
  'encrypted private key': `«${pem('RSA PRIVATE KEY').replace('\n', '\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n')}»\nkept`,
  'PGP private key': `«${pem('PGP PRIVATE KEY BLOCK')}»\nkept`,
  'private key in JSON': `{"private_key_id":"x1","key":"«${JSON.stringify(pem('PRIVATE KEY')).slice(1, -1)}»","b":"kept"}`,
  'private key in one line': `«${pem('PRIVATE KEY').replaceAll('\n', ' ')}» kept`,
  'private key, cut off': `«-----BEGIN PRIVATE KEY-----\n${pemBody.slice(0, 100)}»`,
  'private key, cut off, then text': `«-----BEGIN PRIVATE KEY-----\n${pemBody.slice(0, 100)}»\nThis text is kept.`,
};

/** Texts that stay as they are. */
export const negatives: readonly string[] = [
  // words in the place of a value
  ...'await new return function async'.split(' ').map((word) => `token: ${word}`),
  ...'{value} token secret password bearer jwt'
    .split(' ')
    .flatMap((word) => [`Authorization: Bearer ${word}`, `Authorization: Basic ${word}`]),
  // counts and settings
  'max_tokens: 500',
  'tokens used: 12',
  '{"inputTokens":120,"outputTokens":8,"totalTokens":128}',
  '{"usage":{"prompt_tokens":12,"completion_tokens":3}}',
  'token_limit=4096 token_count=12',
  'maxTokens: 4096, temperature: 0.2',
  '{"nextPageToken":"CAoQAA","items":[]}',
  ...`page next prev previous continuation continue cursor sync resume resumption offset max min num total input output prompt
  completion cache cached reasoning thinking image audio text video budget used left stop pad padding eos bos unk sep cls
  mask special start end first last word sub current design css color`
    .split(/\s+/)
    .map((name) => `{"${name}Token":"CAoQAA9Q7x","items":[]}`),
  // words about a secret, and types
  ...`true false null nil none undefined nan yes no on off ok string number boolean bool int integer str any unknown object array
  bytes optional required missing invalid expired empty unset hidden masked redacted incorrect wrong unauthorized
  forbidden denied valid set changed updated rotated revoked rejected mismatch needed blank include omit same-origin n/a tbd
  todo basic bearer digest token password secret sha1 sha256 sha-256 sha512 sha-512 md5 bcrypt argon2 argon2id base64
  base32 oauth oauth2 jwt rs256 hs256 es256 aes128 aes256 aes-256 utf8 utf-8`
    .split(/\s+/)
    .map((word) => `api_secret: ${word}`),
  // where code takes it from
  ...`os.environ["X9"] os.getenv("X9") import.meta.env.X9 env.X9 config.x9 settings.x9 secrets.x9 vault.x9 options.x9 opts.x9
  this.x9 self.x9 req.x9 request.x9 readIt() \${X9} $(x9) {{x9}} $X9A <x9> %s %x9% %(x9)s *** ... … xxxx`
    .split(/\s+/)
    .map((code) => `api_secret=${code}`),
  'stop_token: "</s>", eos_token: "<eos>", pad_token: "[PAD]"',
  'The tokenizer splits words into tokens: about 4 characters each.',
  '{"keyword":"agent","primaryKey":"id","publicKey":"ssh-rsa"}',
  '{"idempotencyKey":"order-2024-11","cacheKey":"a:b"}',
  '{"sessionId":"s_123abc","session":"4f9a2b7c"}',
  'cookies_accepted=true',
  '{"token":12,"secret":true,"password":null,"apiKey":""}',
  '{"author":"Ada","passenger":"Bob","secretary":"Eve","compass":"north"}',
  // sentences
  'the secret of success',
  'The password must have at least 8 characters.',
  'password: Too small: expected string to have >=8 characters',
  'password: Required',
  'token: expired, please sign in again',
  'The token is expired.',
  'The password is wrong.',
  'Authorization: required',
  'Basic understanding of authorization',
  'Bearer authentication is the simplest form.',
  'the bearer of good news',
  'What is an API key? It is a secret that you pass with each request.',
  'Set your API key in the environment, then restart.',
  'Use --password to set it, or --token-file for a file.',
  'Secret Santa: bring a gift',
  'He told me a secret: few know.',
  'mira@example.com: hello',
  'See https://example.com/a?page=2&token_count=5 for more',
  'https://example.com:8080/path@v2/x and https://user@example.com/',
  'ssh://git@github.com/onward/onward.git',
  'http://localhost:3000/, http://[::1]:8080/',
  'ratio 3:4, at 12:30:45, C:\\Users\\ada',
  'risk-averse-investors-of-this-world',
  'eyJ is how they all begin',
  'sk-learn, pk-1 and key-value pairs',
  'npm_config_registry and npm_lifecycle_event',
  // ids and hashes
  '550e8400-e29b-41d4-a716-446655440000',
  'commit 9f3fd64b1c2a7d8e9f0a1b2c3d4e5f60718293a4',
  'sha256:deadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeef',
  'etag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
  'exec_01hxk5v9q2 step_3 call_abc123',
  // code
  'const token = await getToken();',
  'if (token === expected) return password !== null;',
  'password: string;',
  'apiKey: process.env.API_KEY,',
  'const { password, token } = req.body;',
  'token: req.headers.authorization',
  'connect(password=password, token=row.token)',
  'export API_KEY=$API_KEY',
  'export API_KEY="${API_KEY}"'.replace(/"/g, ''),
  'Authorization: Bearer <token>',
  'Authorization: Bearer ${token}',
  'curl -H "Authorization: Bearer $TOKEN" https://example.com',
  'interface Login { user: string; password: string }',
  'def login(user, password=None): pass',
  'PWD=/home/ada/project SHLVL=1',
  '{"prompt":"Enter your password: ","retry":3}',
  "fetch('/x', { credentials: include })",
  '<input type="password" name="q">',
  // Markdown
  '| token | meaning |\n| --- | --- |\n| `a` | first |',
  '---\ntitle: Tokens\n---\n\n# Tokens\n\n- **Secret**: see [docs](https://example.com)',
  'token: [the docs](https://example.com/tokens)',
  '```sh\nnpm run build -- --watch\n```',
  '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----',
  '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----',
];
