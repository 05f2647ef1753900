/** A relayer on each kind of signer, for each family that sends. One server; the chains are the judges. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { Keypair, StrKey } from '@stellar/stellar-sdk';
import { computeAddress, hexlify, verifyMessage } from 'ethers';
import t, { type Test } from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import type { NetworkType } from '../../src/domain/network-type.ts';
import { createSignerKinds } from '../../src/signers/registry.ts';
import type { Curve } from '../../src/signers/signer.ts';
import { startStellar } from '../doubles/stellar/stellar-net.ts';
import { startSvm } from '../doubles/svm/svm.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { startAwsKms } from '../support/signers/aws-kms-double.ts';
import { startAzure } from '../support/signers/azure-double.ts';
import { startCdp } from '../support/signers/cdp-double.ts';
import { startGoogleKms } from '../support/signers/google-kms-double.ts';
import { keystoreFile } from '../support/signers/keystore-file.ts';
import { newServiceKey } from '../support/signers/service-key.ts';
import type { SignerSubject } from '../support/signers/signer-contract.ts';
import { familiesOf } from '../support/signers/signer-families.ts';
import { startTurnkey } from '../support/signers/turnkey-double.ts';
import { startStoredKey, startTransitKey } from '../support/signers/vault-double.ts';
import { createWorkspace } from '../support/workspace.ts';

const WITHIN_MS = 30_000;
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

const keys = t.testdir();
const [azure, transit, aws] = await Promise.all([startAzure(), startTransitKey(), startAwsKms('secp256k1')]);
// All AWS signers of a process share one identity.
const subjects: SignerSubject[] = [azure, transit, aws, await startAwsKms('ed25519', aws.credentials)];
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

const [anvil, svm, stellar] = await Promise.all([startAnvil({ blockTime: 0.1 }), startSvm(), startStellar()]);
t.teardown(() => Promise.all([anvil.stop(), svm.stop(), stellar.stop()]));

interface Entry {
  /** The relayer's id. */
  id: string;
  family: NetworkType;
  address: string;
  type: string;
  signer: string;
}

/** Relayers of all families that a key can serve. They share the signer. */
function entriesOf(type: string, curve: Curve, publicKey: Buffer, signer: string): Entry[] {
  const kind = type.replaceAll('_', '-');
  const families = familiesOf(createSignerKinds().get(type) ?? {}, curve);
  return families.map((family) => ({
    id: `${family}-${kind}`,
    family,
    type,
    signer,
    address: ADDRESSES[family](publicKey),
  }));
}

const ADDRESSES: Record<NetworkType, (publicKey: Buffer) => string> = {
  evm: (publicKey) => computeAddress(hexlify(publicKey)).toLowerCase(),
  solana: (publicKey) => new PublicKey(publicKey).toBase58(),
  stellar: (publicKey) => StrKey.encodeEd25519PublicKey(publicKey),
};

const signerOf = ({ type, curve }: SignerSubject) => `${type.replaceAll('_', '-')}-${curve}`;
const entries = subjects.flatMap((one) => entriesOf(one.type, one.curve, one.publicKey, signerOf(one)));

/** The same entry with its secrets in the environment, as operators have them. */
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

const relayerOf = ({ id, family, signer }: Entry) => ({
  id,
  name: id,
  network: `${family}-net`,
  network_type: family,
  signer_id: signer,
  paused: false,
  ...(family === 'evm' ? {} : { policies: { fee_payment_strategy: 'relayer' } }),
});

const env: Record<string, string> = { LOG_LEVEL: 'trace', RATE_LIMIT_BURST_SIZE: '100000' };
const workspace = await createWorkspace({
  config: {
    relayers: entries.map(relayerOf),
    signers: subjects.map((subject) => {
      Object.assign(env, subject.environment);
      const id = signerOf(subject);
      return { id, type: subject.type, config: inVariables(id, subject.config, env) };
    }),
  },
});
t.teardown(() => workspace.remove());
const networks = join(workspace.dir, 'config', 'networks');
await mkdir(networks, { recursive: true });
const chains = { evm: anvil, solana: svm, stellar };
for (const [type, { url }] of Object.entries(chains)) {
  const named = type === 'stellar' ? { passphrase: stellar.passphrase } : {};
  const network = { type, network: `${type}-net`, rpc_urls: [url], ...named };
  await writeFile(join(networks, `${type}.json`), JSON.stringify(network));
}

async function endow({ family, address }: Entry): Promise<void> {
  if (family === 'evm') await fund(anvil.url, address);
  else if (family === 'solana') await svm.airdrop(address, 1_000_000_000n);
  else await stellar.fund(address, 1_000_000_000n);
}

await Promise.all(entries.map(endow));
const service = await composeService({ ...workspace.env, ...env });
t.teardown(() => service.stop());
const answers: string[] = [];
/** Secret keys that clients sent to the service. */
const handedOver: string[] = [];

async function ask(method: string, path: string, body?: unknown) {
  const answer = await service.request(method, `/api/v1/${path}`, body);
  answers.push(JSON.stringify(answer.body));
  return answer;
}

/** Waits until a transaction is in a block. Returns its hash or signature. */
async function mined(relayer: string, id: string): Promise<string> {
  const giveUpAt = performance.now() + WITHIN_MS;
  for (;;) {
    const { data } = (await ask('GET', `relayers/${relayer}/transactions/${id}`)).body;
    if (data.status === 'mined' || data.status === 'confirmed') return String(data.hash ?? data.signature);
    if (data.status === 'failed' || performance.now() > giveUpAt) throw new Error(JSON.stringify(data));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const treasury = Keypair.random().publicKey();
await stellar.fund(treasury, 1_000_000_000n);
const bodies: Record<NetworkType, object> = {
  evm: { to: '0x00000000000000000000000000000000000000b0', value: 1, speed: 'fast' },
  solana: { instructions: [{ program_id: MEMO, accounts: [], data: Buffer.from('hello').toString('base64') }] },
  stellar: {
    network: 'stellar-net',
    operations: [{ type: 'payment', destination: treasury, asset: { type: 'native' }, amount: 1 }],
  },
};

/** By family: the sender of a transaction on the chain. */
const SENDERS: Record<NetworkType, (hash: string) => Promise<string | undefined>> = {
  async evm(hash) {
    const { from } = (await anvil.rpc('eth_getTransactionByHash', [hash])) as { from: string };
    return from;
  },
  async solana(hash) {
    const landed = (await svm.rpc('getTransaction', [hash, { encoding: 'json', commitment: 'confirmed' }])) as {
      transaction: { message: { accountKeys: string[] } };
    };
    return landed.transaction.message.accountKeys[0];
  },
  async stellar(hash) {
    return (await stellar.landed()).find((one) => one.hash === hash)?.source;
  },
};

async function sends(t: Test, { id, family, address }: Entry): Promise<void> {
  const accepted = await ask('POST', `relayers/${id}/transactions`, bodies[family]);
  t.equal(accepted.status, 200, `${id}: ${JSON.stringify(accepted.body)}`);
  t.equal(await SENDERS[family](await mined(id, accepted.body.data.id)), address, id);
}

t.test('each relayer sends from the account of its key', async (t) => {
  await Promise.all(entries.map((entry) => sends(t, entry)));
});

t.test('a key that a client hands over does the same', async (t) => {
  for (const curve of ['secp256k1', 'ed25519'] as const) {
    const { publicKey, secret } = newServiceKey(curve);
    const id = `plain-${curve}`;
    handedOver.push(secret.toString('hex'), secret.toString('base64'));
    const made = await ask('POST', 'signers', { id, type: 'plain', config: { key: secret.toString('hex') } });
    t.equal(made.status, 201, JSON.stringify(made.body));
    for (const entry of entriesOf('plain', curve, publicKey, id)) {
      await endow(entry);
      t.match(await ask('POST', 'relayers', relayerOf(entry)), { status: 201 });
      await sends(t, entry);
    }
  }
});

t.test('a service that refuses is an error that names the signer, and nothing else stops', async (t) => {
  azure.revoke();
  const refused = await ask('POST', 'relayers/evm-azure-key-vault/sign', { message: 'hi' });
  t.match(refused, {
    status: 500,
    body: { success: false, error: /^Signer azure-key-vault-secp256k1 failed: Azure Key Vault/ },
  });
  const others = await ask('POST', 'relayers/evm-turnkey/sign', { message: 'hi' });
  const turnkey = entries.find(({ id }) => id === 'evm-turnkey');
  t.equal(verifyMessage('hi', `0x${others.body.data.sig}`).toLowerCase(), turnkey?.address);
  azure.restore();
  t.match(await ask('POST', 'relayers/evm-azure-key-vault/sign', { message: 'hi' }), { status: 200 });
});

t.test('a service that does not answer holds up its own relayer alone, which leaves no gap', async (t) => {
  const release = azure.service.hold();
  const held: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const accepted = await ask('POST', 'relayers/evm-azure-key-vault/transactions', bodies.evm);
    held.push(accepted.body.data.id);
  }
  const local = entries.find(({ id }) => id === 'evm-local');
  if (local !== undefined) await sends(t, local);
  const states = held.map(
    async (id) => (await ask('GET', `relayers/evm-azure-key-vault/transactions/${id}`)).body.data,
  );
  for (const { status } of await Promise.all(states)) t.notMatch(status, /mined|confirmed/);
  release();
  const nonces: number[] = [];
  for (const id of held) {
    const hash = await mined('evm-azure-key-vault', id);
    const { nonce } = (await anvil.rpc('eth_getTransactionByHash', [hash])) as { nonce: string };
    nonces.push(Number(nonce));
  }
  const [first = 0] = nonces.toSorted((a, b) => a - b);
  t.strictSame(
    nonces.toSorted((a, b) => a - b),
    [first, first + 1, first + 2],
  );
});

t.test('a key on another curve is no signer for a relayer', async (t) => {
  const relayer = { id: 'evm-ed25519', family: 'evm', address: '', type: '', signer: '' } as const;
  for (const type of ['turnkey', 'cdp']) {
    const refused = await ask('POST', 'relayers', relayerOf({ ...relayer, signer: `${type}-ed25519` }));
    const error = `signer_id: signer ${type}-ed25519 cannot sign for evm relayers: they sign on secp256k1`;
    t.match(refused, { status: 400, body: { error } });
  }
});

t.test('no credential is in an answer, in the log, or among what is shown of signers', async (t) => {
  for (const path of ['signers?per_page=100', 'relayers?per_page=100']) await ask('GET', path);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const metrics = await (
    await fetch(`${service.url}/api/v1/metrics/isolayer_signer_request_duration_seconds`, { headers })
  ).text();
  answers.push(metrics);
  for (const { type } of [...entries, { type: 'plain' }]) t.match(metrics, `type="${type}"`, `${type} is counted`);
  await service.stop();
  const heard = [service.output(), ...answers].join('\n');
  const secrets = [...subjects.flatMap((subject) => subject.secrets()), ...handedOver];
  t.ok(secrets.length > 20);
  for (const secret of secrets) t.notOk(heard.includes(secret), `${secret.slice(0, 14)}…`);
});
