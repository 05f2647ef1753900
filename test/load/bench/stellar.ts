/**
 * Measures relaying on Stellar: transactions accepted and landed per second through the server over HTTP, compared with
 * a bare loop that sends signed bytes to the same network. The network closes five ledgers a second. A ledger takes one
 * transaction of the relayer's account, but any number of fee bumps around transactions of different channel accounts.
 * Server, network and load share the cores.
 */
import { Account, Asset, Keypair, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import { Agent } from 'undici';
import { type StellarNet, startStellar } from '../../doubles/stellar/stellar-net.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { cpuMicrosOf } from './process-figures.ts';
import { accept, each, IN_FLIGHT, perSecond, rpc, until } from './relaying.ts';

export interface StellarBench {
  /** Payments from the relayer's own account. */
  own: number;
  /** Fee bumps, each around a transaction of a different channel account. */
  bumps: number;
}

/** Rates are in transactions per second. */
export interface StellarFigures {
  name: string;
  /** Rate of the bare loop, from the first request until the last transaction has landed. */
  bare: number;
  /** Answers with status 200 through the service. */
  accepted: number;
  /** Rate through the service, from the first request until the last transaction has landed. */
  landed: number;
  /** Processor time of the service for each transaction, in milliseconds. */
  cpuMs: number;
}

const LEDGER_MS = 200;
const LUMEN = 10_000_000n;
const PATIENCE_MS = 180_000;

interface Bench {
  net: StellarNet;
  agent: Agent;
  service: RunningService;
  /** The account that is paid. */
  to: string;
}

export async function benchStellar({ own, bumps }: StellarBench): Promise<StellarFigures[]> {
  const net = await startStellar({ ledgerMs: LEDGER_MS });
  const agent = new Agent({ connections: IN_FLIGHT });
  const workspace = await createWorkspace({
    rpcUrl: net.url,
    // Close times are whole seconds, but ledgers close five times a second: the network's clock runs ahead of ours.
    relayer: { network_type: 'stellar', policies: { fee_payment_strategy: 'relayer', timeout_seconds: 3_600 } },
    network: { type: 'stellar', passphrase: net.passphrase, average_blocktime_ms: LEDGER_MS },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000' },
  });
  try {
    const relayer = Keypair.fromRawEd25519Seed(Buffer.from(workspace.privateKey.slice(2), 'hex'));
    await net.fund(relayer.publicKey(), 1_000_000n * LUMEN);
    const to = Keypair.random().publicKey();
    await net.fund(to, LUMEN);
    const service = await startService(workspace.env);
    try {
      const bench = { net, agent, service, to };
      return [await ofOwn(bench, own), await ofBumps(bench, bumps)];
    } finally {
      await service.stop();
    }
  } finally {
    await agent.close();
    await net.stop();
    await workspace.remove();
  }
}

async function ofOwn(bench: Bench, count: number): Promise<StellarFigures> {
  const { net, agent, to } = bench;
  const payer = await funded(net);
  const bytes = await payments(net, payer, to, count);
  const bare = await timed(bench, count, async () => {
    let before = (await net.landed()).length;
    for (const raw of bytes) {
      await offer(net, agent, raw);
      before += 1;
      await untilLanded(net, before);
    }
  });
  const operations = [{ type: 'payment', destination: to, amount: '1', asset: { type: 'native' } }];
  const bodies = bytes.map(() => ({ network: 'local', operations }));
  return { name: 'one account', bare: bare.landed, ...(await throughService(bench, bodies)) };
}

async function ofBumps(bench: Bench, count: number): Promise<StellarFigures> {
  const { net, agent, to } = bench;
  const channels = await Promise.all(Array.from({ length: 2 * count }, () => funded(net)));
  const signed = await Promise.all(channels.map((channel) => payments(net, channel, to, 1)));
  const [direct, served] = [signed.slice(0, count).flat(), signed.slice(count).flat()];
  const bare = await timed(bench, count, () => each(direct, (raw) => offer(net, agent, raw)));
  const bodies = served.map((raw) => ({ network: 'local', transaction_xdr: raw, fee_bump: true, max_fee: 1_000 }));
  return { name: 'channels', bare: bare.landed, ...(await throughService(bench, bodies)) };
}

async function funded(net: StellarNet): Promise<Keypair> {
  const key = Keypair.random();
  await net.fund(key.publicKey(), 100n * LUMEN);
  return key;
}

/** Signed payments with consecutive sequence numbers, in base64. */
async function payments(net: StellarNet, from: Keypair, to: string, count: number): Promise<string[]> {
  const account = new Account(from.publicKey(), await sequenceOf(net, from));
  return Array.from({ length: count }, () => {
    const transaction = new TransactionBuilder(account, { fee: '100', networkPassphrase: net.passphrase })
      .addOperation(Operation.payment({ destination: to, asset: Asset.native(), amount: '0.0000001' }))
      .setTimeout(1_800)
      .build();
    transaction.sign(from);
    return transaction.toXdr();
  });
}

async function sequenceOf(net: StellarNet, key: Keypair): Promise<string> {
  const response = await fetch(`${net.horizonUrl}/accounts/${key.publicKey()}`);
  return ((await response.json()) as { sequence: string }).sequence;
}

async function throughService(bench: Bench, bodies: readonly object[]): Promise<Omit<StellarFigures, 'name' | 'bare'>> {
  const { service, agent } = bench;
  const before = await cpuMicrosOf(service.pid);
  const rates = await timed(bench, bodies.length, () => each(bodies, (body) => accept(service, agent, body)));
  return { ...rates, cpuMs: ((await cpuMicrosOf(service.pid)) - before) / bodies.length / 1_000 };
}

async function timed(
  { net }: Bench,
  count: number,
  send: () => Promise<void>,
): Promise<{ accepted: number; landed: number }> {
  const before = (await net.landed()).length;
  const began = performance.now();
  await send();
  const accepted = perSecond(count, began);
  await untilLanded(net, before + count);
  return { accepted, landed: perSecond(count, began) };
}

async function untilLanded(net: StellarNet, count: number): Promise<void> {
  await until(async () => (await net.landed()).length >= count, 20, PATIENCE_MS);
}

async function offer(net: StellarNet, agent: Agent, transaction: string): Promise<void> {
  const result = (await rpc(net.url, agent, 'sendTransaction', { transaction })) as { status: string };
  if (result.status !== 'PENDING') throw new Error(`not taken: ${JSON.stringify(result)}`);
}
