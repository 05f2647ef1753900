/** The forms that keys are kept in without a passphrase, each by the name that its keepers know it by. */
const FORMS: readonly [form: RegExp, name: string][] = [
  [/^(?:0x)?[0-9a-fA-F]{64}$/, 'a private key in clear'],
  [/^S[A-Z2-7]{55}$/, 'a Stellar secret seed in clear'],
  [/^[1-9A-HJ-NP-Za-km-z]{87,88}$/, 'a Solana key pair in clear'],
  [/^\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*\]$/, 'a Solana key pair in clear'],
  [/^-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key in PEM'],
  [/^[a-z]+(?:\s+[a-z]+){11,23}$/, 'a phrase of words in clear'],
];

/** What a text is that is a key itself; undefined where it may be something else. Shows nothing of it. */
export function keyInClear(text: string): string | undefined {
  const bare = text.trim().replace(/^(["'])(.*)\1$/s, '$2');
  return FORMS.find(([form]) => form.test(bare))?.[1];
}
