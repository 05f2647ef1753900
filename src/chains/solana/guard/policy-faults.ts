import type { ReadFromEndpoint, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { RelayerAccount } from '../../chain-client.ts';
import { faultsShownByAll } from '../../quorum.ts';
import { readPolicy, type SolanaPolicy } from '../configuration/policy.ts';
import { getAccounts } from '../rpc-calls.ts';
import { type Mint, readMint } from '../tokens/mint.ts';

/**
 * What is wrong with the programs and tokens that the policies allow: they do not exist, or are of another kind. A
 * fault counts only when every endpoint that answers shows it.
 */
export async function policyFaults(
  rpc: RpcClient,
  { policies }: RelayerAccount,
  onRisk: (risk: string) => void = () => {},
): Promise<readonly string[]> {
  const policy = readPolicy(policies);
  if (policy.allowedPrograms === null && policy.allowedTokens.length === 0) return [];
  return faultsShownByAll(
    rpc,
    (read) => faultsOn(read, policy, onRisk),
    (read) => faultsOn(read, policy),
  );
}

async function faultsOn(
  read: ReadFromEndpoint,
  { allowedPrograms, allowedTokens }: SolanaPolicy,
  onRisk: (risk: string) => void = () => {},
): Promise<string[]> {
  const programs = [...(allowedPrograms ?? [])];
  const mints = allowedTokens.map(({ mint }) => mint);
  const found = await getAccounts(read, [...programs, ...mints]);
  return [
    ...programs.flatMap((program, index) => programFault(program, found[index]?.isExecutable)),
    ...mints.flatMap((address, index) => {
      const mint = readMint(address, found[programs.length + index]);
      if (mint?.permanentDelegate != null) onRisk(riskOf(address, mint.permanentDelegate));
      return tokenFault(address, mint);
    }),
  ];
}

function riskOf(mint: string, delegate: string): string {
  return `allowed_tokens: ${delegate} may move and burn everybody's tokens of ${mint} (permanent delegate), also the relayer's`;
}

function programFault(program: string, isExecutable: boolean | undefined): string[] {
  if (isExecutable === true) return [];
  const what = isExecutable === undefined ? 'is not on this network' : 'is an account and no program';
  return [`allowed_programs: ${program} ${what}; correct it, or remove it`];
}

function tokenFault(address: string, mint: Mint | undefined): string[] {
  if (mint === undefined)
    return [`allowed_tokens: ${address} is not a token on this network; correct it, or remove it`];
  if (!mint.hasHook) return [];
  return [`allowed_tokens: ${address} calls a program with each transfer, which is not supported; take it out`];
}
