/** The forms of keys that are kept without a passphrase, each with its usual name. */
const FORMS: readonly [form: RegExp, name: string][] = [
  [/^(?:0x)?[0-9a-fA-F]{64}$/, 'a private key in clear'],
  [/^S[A-Z2-7]{55}$/, 'a Stellar secret seed in clear'],
  [/^[1-9A-HJ-NP-Za-km-z]{87,88}$/, 'a Solana key pair in clear'],
  [/^\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*\]$/, 'a Solana key pair in clear'],
  [/^-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key in PEM'],
  [/^[a-z]+(?:\s+[a-z]+){11,23}$/, 'a phrase of words in clear'],
];

/** The kind of key that a text is; undefined when it may be something else. Shows nothing of the text. */
export function keyInClear(text: string): string | undefined {
  const bare = text.trim().replace(/^(["'])(.*)\1$/s, '$2');
  return FORMS.find(([form]) => form.test(bare))?.[1];
}
