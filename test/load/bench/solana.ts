/**
 * Measures relaying on Solana: transactions accepted and landed per second through the server over HTTP, compared with
 * a bare loop that sends signed bytes to the same SVM. The SVM makes ten blocks a second and simulates each transaction
 * before it accepts it. Server, SVM and load share the cores.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, Keypair, PublicKey, Transaction, TransactionInstruction } from '@solana/web3.js';
import { Agent } from 'undici';
import { type Svm, startSvm } from '../../doubles/svm/svm.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { cpuMicrosOf } from './process-figures.ts';
import { accept, each, IN_FLIGHT, perSecond, rpc, until } from './relaying.ts';

export interface SolanaBench {
  transactions: number;
}

/** Rates are in transactions per second. */
export interface SolanaFigures {
  /** Rate of the bare loop, from the first request until the last transaction has landed. */
  bare: number;
  /** Answers with status 200 through the service. */
  accepted: number;
  /** Rate through the service, from the first request until the last transaction has landed. */
  landed: number;
  /** Processor time of the service for each transaction, in milliseconds. */
  cpuMs: number;
}

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
  await each(bodies, (body) => accept(service, agent, body));
  const accepted = perSecond(count, began);
  await untilLanded(svm, before + count);
  return { accepted, landed: perSecond(count, began) };
}

async function untilLanded(svm: Svm, count: number): Promise<void> {
  await until(async () => (await svm.landed()).length >= count, 50, PATIENCE_MS);
}

async function send(svm: Svm, agent: Agent, raw: string): Promise<void> {
  const params = [raw, { encoding: 'base64', preflightCommitment: 'confirmed', maxRetries: 0 }];
  await rpc(svm.url, agent, 'sendTransaction', params);
}
