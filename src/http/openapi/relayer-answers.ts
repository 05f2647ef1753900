import { z } from 'zod';
import type { Chain } from '../../chains/chain.ts';
import { networkTypeSchema } from '../../domain/network-type.ts';
import { moment } from '../../domain/wire-time.ts';
import { COMMON_RELAYER_CHECKS } from '../../features/relayers/records/disabled-reason.ts';
import { amount, disabledReasonAnswer } from './answers.ts';

/** The answers about a relayer. Families add their own fields and reasons to them. */
export interface RelayerAnswers {
  relayer: z.ZodType;
  status: z.ZodType;
  balance: z.ZodType;
}

const unavailable = z
  .record(z.string(), z.string())
  .optional()
  .meta({ description: 'Reason for each value that no endpoint gave, by its field name; absent if there is none' });

/** Makes the schemas of the answers about relayers, for the given families. */
export function relayerAnswers(chains: readonly Pick<Chain, 'sequence' | 'unit'>[]): RelayerAnswers {
  const counters = chains.flatMap(({ sequence: counter }) => counter ?? []);
  const checks = [...Object.keys(COMMON_RELAYER_CHECKS), ...counters.map(({ failure }) => failure.type)];
  return {
    relayer: relayerSchema(z.enum(checks)),
    status: z.object({
      network_type: networkTypeSchema,
      balance: z.string().nullable().meta({ description: 'In the smallest unit; null while no endpoint answers' }),
      pending_transactions_count: z.int().min(0),
      last_confirmed_transaction_timestamp: moment.nullable(),
      system_disabled: z.boolean(),
      paused: z.boolean(),
      ...Object.fromEntries(
        counters.map(({ statusKey, description }) => [
          statusKey,
          z.string().nullable().optional().meta({ description }),
        ]),
      ),
      unavailable,
    }),
    balance: z.object({ balance: amount.nullable(), unit: z.enum(chains.map(({ unit }) => unit)), unavailable }),
  };
}

function relayerSchema(check: z.ZodType) {
  return z.object({
    id: z.string(),
    name: z.string(),
    network: z.string(),
    network_type: networkTypeSchema,
    paused: z.boolean().meta({ description: 'Whether a client has paused the relayer' }),
    policies: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Policies that are set, and the defaults of the network type' }),
    signer_id: z.string(),
    notification_id: z.string().optional(),
    custom_rpc_urls: z
      .array(z.object({ url: z.string(), weight: z.int().min(0).max(100) }))
      .optional()
      .meta({ description: 'RPC endpoints of the relayer; hidden after the host, because paths may contain keys' }),
    address: z.string(),
    system_disabled: z.boolean().meta({
      description: 'Whether the service has disabled the relayer: its checks fail, or its network was not reached yet',
    }),
    disabled_reason: disabledReasonAnswer(check).meta({
      description:
        'Results of the failed checks, and the time of the next check; no time before the first check has ended',
    }),
  });
}
