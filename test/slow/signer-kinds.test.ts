/** Every kind of signer on every family that it can serve, each over the real protocol of its key service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createChains } from '../../src/chains/registry.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { clientSignerKinds, readSignerForm } from '../../src/features/signers/signer-form.ts';
import { createSignerKinds } from '../../src/signers/registry.ts';
import { startAwsKms } from '../support/signers/aws-kms-double.ts';
import { startAzure } from '../support/signers/azure-double.ts';
import { startCdp } from '../support/signers/cdp-double.ts';
import { startGoogleKms } from '../support/signers/google-kms-double.ts';
import { keystoreFile } from '../support/signers/keystore-file.ts';
import { plainKey } from '../support/signers/plain-key.ts';
import {
  keepsFaithWithService,
  type SignerSubject,
  signsAsDocumented,
  signsForFamilies,
} from '../support/signers/signer-contract.ts';
import type { SignerDouble } from '../support/signers/signer-double.ts';
import { startTurnkey } from '../support/signers/turnkey-double.ts';
import { startStoredKey, startTransitKey } from '../support/signers/vault-double.ts';

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'signers.md'), 'utf8');
const families = [...createChains(systemClock).keys()];

const services: readonly (() => Promise<SignerDouble>)[] = [
  () => startAwsKms('secp256k1'),
  () => startAwsKms('ed25519'),
  () => startGoogleKms('secp256k1'),
  () => startGoogleKms('ed25519'),
  startAzure,
  () => startStoredKey('secp256k1'),
  () => startStoredKey('ed25519'),
  startTransitKey,
  () => startTurnkey('secp256k1'),
  () => startTurnkey('ed25519'),
  () => startCdp('secp256k1'),
  () => startCdp('ed25519'),
];

/** The guide's entry of a kind. For a kind that only clients can make, the guide shows the client's request instead. */
function shown(type: string): { id: string; type: string; config: JsonObject } {
  const section = guide.split(/^## /m).find((text) => text.startsWith(`\`${type}\`\n`)) ?? '';
  const entry = JSON.parse(/```json\n([^]*?)```/.exec(section)?.[1] ?? 'null');
  return type === 'plain'
    ? { ...entry, config: readSignerForm(entry, clientSignerKinds(createSignerKinds())).config }
    : entry;
}

const served = new Map<string, Set<string>>();

async function keepsContract(type: string, subject: SignerSubject, start?: () => Promise<SignerDouble>): Promise<void> {
  await t.test(`${type} on ${subject.curve}`, async (t) => {
    const families = await signsForFamilies(t, subject);
    served.set(type, (served.get(type) ?? new Set()).union(new Set(families)));
    await signsAsDocumented(t, subject, shown(type));
    if (start !== undefined) await keepsFaithWithService(t, start);
  });
}

const folder = t.testdir();
for (const curve of ['secp256k1', 'ed25519'] as const) {
  await keepsContract('local', await keystoreFile(folder, curve));
  await keepsContract('plain', plainKey(curve));
}
for (const start of services) {
  const double = await start();
  t.teardown(() => double.service.stop());
  await keepsContract(double.type, double, start);
}

t.test('the table of the guide is what was just shown, of every kind', (t) => {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const kept = (type: string) => (['local', 'vault', 'plain'].includes(type) ? 'in this process' : 'in the service');
  const rows = [...createSignerKinds().keys(), 'plain'].map((type) =>
    row([
      `\`${type}\``,
      kept(type),
      ...families.map((family) => (served.get(type)?.has(family) === true ? 'yes' : 'no')),
    ]),
  );
  const head = row(['`type`', 'the key is', ...families]);
  const table = [head, row(['---', '---', ...families.map(() => '---')]), ...rows].join('\n');
  t.equal(/^\| `type` .*\n(?:\|.*\n)+/m.exec(guide)?.[0].trim(), table);
  t.end();
});
