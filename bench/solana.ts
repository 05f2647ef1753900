/**
 * What relaying costs on Solana: transactions accepted and landed a second through the server over HTTP, against a bare loop
 * that sends signed bytes to the same SVM. The SVM makes ten blocks a second and tries each transaction before it takes it.
 * Server, SVM and load share the cores.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, Keypair, PublicKey, Transaction, TransactionInstruction } from '@solana/web3.js';
import { Agent, request } from 'undici';
import { type RunningService, startService } from '../test/support/service.ts';
import { type Svm, startSvm } from '../test/support/svm.ts';
import { createWorkspace } from '../test/support/workspace.ts';
import { cpuMicrosOf } from './process-figures.ts';

export interface SolanaBench {
  transactions: number;
}

/** In transactions per second, but for the last. */
export interface SolanaFigures {
  /** Of the bare loop, from the first request until the last has landed. */
  bare: number;
  /** Answers of 200. */
  accepted: number;
  /** From the first request until the last has landed. */
  landed: number;
  /** Processor time of the service for each, in milliseconds. */
  cpuMs: number;
}

const IN_FLIGHT = 32;
const SOL = 1_000_000_000n;
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const PATIENCE_MS = 120_000;

export async function benchSolana({ transactions }: SolanaBench): Promise<SolanaFigures> {
  const svm = await startSvm({ slotMs: 100 });
  const agent = new Agent({ connections: IN_FLIGHT });
  const workspace = await createWorkspace({
    rpcUrl: svm.url,
    relayer: { network_type: 'solana', policies: { fee_payment_strategy: 'relayer' } },
    network: { type: 'solana' },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000' },
  });
  try {
    const bare = await bareLoop(svm, agent, transactions);
    const relayer = Keypair.fromSeed(Buffer.from(workspace.privateKey.slice(2), 'hex')).publicKey;
    await svm.airdrop(relayer.toBase58(), 1_000n * SOL);
    const service = await startService(workspace.env);
    try {
      await throughService(service, svm, agent, 100);
      const before = await cpuMicrosOf(service.pid);
      const rates = await throughService(service, svm, agent, transactions);
      return { bare, ...rates, cpuMs: ((await cpuMicrosOf(service.pid)) - before) / transactions / 1_000 };
    } finally {
      await service.stop();
    }
  } finally {
    await agent.close();
    await svm.stop();
    await workspace.remove();
  }
}

async function bareLoop(svm: Svm, agent: Agent, count: number): Promise<number> {
  const payer = Keypair.generate();
  await svm.airdrop(payer.publicKey.toBase58(), 1_000n * SOL);
  await sleep(500);
  const latest = await new Connection(svm.url, 'confirmed').getLatestBlockhash();
  const signed = Array.from({ length: count }, (_, index) => {
    const memo = new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(`bare ${index}`) });
    const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(memo);
    transaction.sign(payer);
    return transaction.serialize().toString('base64');
  });
  const before = (await svm.landed()).length;
  const began = performance.now();
  await each(signed, (raw) => send(svm, agent, raw));
  await untilLanded(svm, before + count);
  return perSecond(count, began);
}

async function throughService(
  service: RunningService,
  svm: Svm,
  agent: Agent,
  count: number,
): Promise<{ accepted: number; landed: number }> {
  const before = (await svm.landed()).length;
  const began = performance.now();
  const bodies = Array.from({ length: count }, (_, index) => ({
    instructions: [
      { program_id: MEMO.toBase58(), accounts: [], data: Buffer.from(`served ${before} ${index}`).toString('base64') },
    ],
  }));
  await each(bodies, (body) => post(service, agent, body));
  const accepted = perSecond(count, began);
  await untilLanded(svm, before + count);
  return { accepted, landed: perSecond(count, began) };
}

async function untilLanded(svm: Svm, count: number): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while ((await svm.landed()).length < count) {
    if (performance.now() > end) throw new Error('not all have landed; nothing to compare');
    await sleep(50);
  }
}

async function post({ url, apiKey }: RunningService, agent: Agent, body: object): Promise<void> {
  const { statusCode, body: answer } = await request(`${url}/api/v1/relayers/local-1/transactions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    dispatcher: agent,
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`not accepted: ${statusCode} ${text}`);
}

async function send(svm: Svm, agent: Agent, raw: string): Promise<void> {
  const params = [raw, { encoding: 'base64', preflightCommitment: 'confirmed', maxRetries: 0 }];
  const { body } = await request(svm.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params }),
    dispatcher: agent,
  });
  const { error } = (await body.json()) as { error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

function perSecond(count: number, began: number): number {
  return count / ((performance.now() - began) / 1000);
}
