/** A relayer on each kind of signer, for each family that sends: one server, the chains are the judges. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { computeAddress, hexlify, verifyMessage } from 'ethers';
import t from 'tap';
import { fund } from '../../demo/chain.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { startAnvil } from '../support/anvil.ts';
import { type RunningService, startService } from '../support/service.ts';
import { startAwsKms } from '../support/signers/aws-kms-double.ts';
import { startAzure } from '../support/signers/azure-double.ts';
import { startCdp } from '../support/signers/cdp-double.ts';
import { startGoogleKms } from '../support/signers/google-kms-double.ts';
import { keystoreFile } from '../support/signers/keystore-file.ts';
import type { SignerSubject } from '../support/signers/signer-contract.ts';
import { startTurnkey } from '../support/signers/turnkey-double.ts';
import { startStoredKey, startTransitKey } from '../support/signers/vault-double.ts';
import { startSvm } from '../support/svm.ts';
import { createWorkspace } from '../support/workspace.ts';

const WITHIN_MS = 30_000;
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

const keys = t.testdir();
const azure = await startAzure();
const subjects: SignerSubject[] = [
  azure,
  await startTransitKey(),
  // One identity of AWS is that of the process, and so of one key: the other family has its own in the other test.
  await startAwsKms('secp256k1'),
];
for (const curve of ['secp256k1', 'ed25519'] as const) {
  subjects.push(
    await keystoreFile(keys, curve),
    await startGoogleKms(curve),
    await startStoredKey(curve),
    await startTurnkey(curve),
    await startCdp(curve),
  );
}
t.teardown(() => Promise.all(subjects.map(async ({ service }) => await service?.stop())));

const [anvil, svm] = await Promise.all([startAnvil(), startSvm()]);
t.teardown(() => Promise.all([anvil.stop(), svm.stop()]));

interface Entry {
  id: string;
  family: 'evm' | 'solana';
  address: string;
  subject: SignerSubject;
}

const entries: Entry[] = subjects.map((subject) => {
  const family = subject.curve === 'secp256k1' ? 'evm' : 'solana';
  const { publicKey } = subject;
  const address = family === 'evm' ? computeAddress(hexlify(publicKey)) : new PublicKey(publicKey).toBase58();
  return { id: `${family}-${subject.type.replaceAll('_', '-')}`, family, address, subject };
});

/** The same entry with its secrets in the environment, as an operator would have them. */
function inVariables(prefix: string, config: JsonObject, env: Record<string, string>): JsonObject {
  return Object.fromEntries(
    Object.entries(config).map(([field, value]) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [field, value];
      const name = `${prefix}_${field}`.toUpperCase().replaceAll('-', '_');
      if (value['type'] !== 'plain') return [field, inVariables(name, value, env)];
      env[name] = String(value['value']);
      return [field, { type: 'env', value: name }];
    }),
  );
}

const env: Record<string, string> = { LOG_LEVEL: 'trace' };
const workspace = await createWorkspace({
  config: {
    relayers: entries.map(({ id, family }) => ({
      ...{ id, name: id, network: `${family}-net`, network_type: family, signer_id: id, paused: false },
      ...(family === 'solana' ? { policies: { fee_payment_strategy: 'relayer' } } : {}),
    })),
    signers: entries.map(({ id, subject }) => {
      Object.assign(env, subject.environment);
      return { id, type: subject.type, config: inVariables(id, subject.config, env) };
    }),
  },
});
t.teardown(() => workspace.remove());
const networks = join(workspace.dir, 'config', 'networks');
await mkdir(networks, { recursive: true });
for (const [type, { url }] of [['evm', anvil] as const, ['solana', svm] as const]) {
  await writeFile(join(networks, `${type}.json`), JSON.stringify({ type, network: `${type}-net`, rpc_urls: [url] }));
}
for (const { family, address } of entries) {
  await (family === 'evm' ? fund(anvil.url, address) : svm.airdrop(address, 1_000_000_000n));
}
const service: RunningService = await startService({ ...workspace.env, ...env });
t.teardown(() => service.stop());
const answers: string[] = [];

async function ask(method: string, path: string, body?: unknown) {
  const answer = await service.request(method, `/api/v1/${path}`, body);
  answers.push(JSON.stringify(answer.body));
  return answer;
}

/** Waits until a transaction is in a block; its hash or its signature. */
async function mined(relayer: string, id: string): Promise<string> {
  const giveUpAt = performance.now() + WITHIN_MS;
  for (;;) {
    const { data } = (await ask('GET', `relayers/${relayer}/transactions/${id}`)).body;
    if (data.status === 'mined' || data.status === 'confirmed') return String(data.hash ?? data.signature);
    if (data.status === 'failed' || performance.now() > giveUpAt) throw new Error(JSON.stringify(data));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const bodies = {
  evm: { to: '0x00000000000000000000000000000000000000b0', value: 1, speed: 'fast' },
  solana: { instructions: [{ program_id: MEMO, accounts: [], data: Buffer.from('hello').toString('base64') }] },
};

t.test('each relayer sends from the account of its key', async (t) => {
  await Promise.all(
    entries.map(async ({ id, family, address }) => {
      const accepted = await ask('POST', `relayers/${id}/transactions`, bodies[family]);
      t.equal(accepted.status, 200, `${id}: ${JSON.stringify(accepted.body)}`);
      const hash = await mined(id, accepted.body.data.id);
      if (family === 'evm') {
        const { from } = (await anvil.rpc('eth_getTransactionByHash', [hash])) as { from: string };
        t.equal(from, address.toLowerCase(), id);
        return;
      }
      const landed = (await svm.rpc('getTransaction', [hash, { encoding: 'json', commitment: 'confirmed' }])) as {
        transaction: { message: { accountKeys: string[] } };
      };
      t.equal(landed.transaction.message.accountKeys[0], address, id);
    }),
  );
});

t.test('a service that refuses is an error that names the signer, and nothing else stops', async (t) => {
  azure.revoke();
  const refused = await ask('POST', 'relayers/evm-azure-key-vault/sign', { message: 'hi' });
  t.match(refused, {
    status: 500,
    body: { success: false, error: /^Signer evm-azure-key-vault failed: Azure Key Vault/ },
  });
  const others = await ask('POST', 'relayers/evm-turnkey/sign', { message: 'hi' });
  const turnkey = entries.find(({ id }) => id === 'evm-turnkey');
  t.equal(verifyMessage('hi', `0x${others.body.data.sig}`), turnkey?.address);
  azure.restore();
  t.match(await ask('POST', 'relayers/evm-azure-key-vault/sign', { message: 'hi' }), { status: 200 });
});

t.test('no credential is in an answer, in the log, or among what is shown of signers', async (t) => {
  for (const path of ['signers?per_page=100', 'relayers?per_page=100']) await ask('GET', path);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const metrics = await (await fetch(`${service.url}/api/v1/metrics/signer_question_seconds`, { headers })).text();
  answers.push(metrics);
  for (const { subject } of entries) t.match(metrics, subject.type, `${subject.type} is counted`);
  await service.stop();
  await service.drained;
  const heard = [service.output(), ...answers].join('\n');
  const secrets = subjects.flatMap((subject) => subject.secrets());
  t.ok(secrets.length > 20);
  for (const secret of secrets) t.notOk(heard.includes(secret), `${secret.slice(0, 14)}…`);
});
