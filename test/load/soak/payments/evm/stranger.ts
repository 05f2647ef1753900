import { Wallet } from 'ethers';
import type { Anvil } from '../../../../support/anvil.ts';
import type { RelayerAccount } from '../../../../support/relayer-accounts.ts';
import type { Stranger } from '../chain.ts';
import { pass } from '../pass.ts';

/** A stranger that has the keys of the relayers' accounts. */
export interface KeyThief extends Stranger {
  /** Hashes of its transactions that the node accepted, in lower case. */
  readonly hashes: ReadonlySet<string>;
}

const PAUSE_MS = [4_000, 12_000] as const;
const CHAIN_ID = 31_337;
const TIP = 2_000_000_000n;
/** The highest fee per unit of gas, in wei. Enough for every base fee of the schedule of faults. */
const MAX = 200_000_000_000n;

/** Consumes the next nonce of an account at random times. */
export function startStranger(anvil: Anvil, accounts: readonly RelayerAccount[], random: () => number): KeyThief {
  const stopped = new AbortController();
  const hashes = new Set<string>();

  async function send(): Promise<void> {
    const account = accounts[Math.floor(random() * accounts.length)];
    if (account === undefined) return;
    const { address, privateKey } = account;
    const nonce = Number(await anvil.rpc('eth_getTransactionCount', [address, random() < 0.5 ? 'pending' : 'latest']));
    const raw = await new Wallet(privateKey).signTransaction({
      chainId: CHAIN_ID,
      type: 2,
      nonce,
      to: Wallet.createRandom().address,
      value: 1n,
      gasLimit: 21_000n,
      maxFeePerGas: MAX,
      maxPriorityFeePerGas: TIP,
    });
    hashes.add(String(await anvil.rpc('eth_sendRawTransaction', [raw])).toLowerCase());
  }

  async function go(): Promise<void> {
    while (await pass(PAUSE_MS[0] + random() * (PAUSE_MS[1] - PAUSE_MS[0]), stopped.signal)) {
      // Fails if the nonce is used by now, or if a transaction in the pool has it and pays more.
      await send().catch(() => undefined);
    }
  }

  const going = go();
  return {
    hashes,
    get sent() {
      return hashes.size;
    },
    async stop() {
      stopped.abort();
      await going;
    },
  };
}
