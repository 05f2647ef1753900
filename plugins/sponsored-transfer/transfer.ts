import { pluginError } from '@openzeppelin/relayer-sdk';

/** What a call of this plugin has to bring. */
export interface Transfer {
  relayerId: string;
  /** The receiver's address. */
  to: string;
  /** In wei, as a decimal string or a safe integer. */
  value: string;
}

/** Reads the caller's parameters and names every one that is wrong. */
export function parseTransfer(params: unknown): Transfer {
  const { relayerId, to, value } = (params ?? {}) as Record<string, unknown>;
  const wrong: string[] = [];
  if (typeof relayerId !== 'string') wrong.push('relayerId: the id of a relayer');
  if (typeof to !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(to)) wrong.push('to: an address, 0x and 40 hex digits');
  if (!/^\d+$/.test(String(value))) wrong.push('value: an amount in wei');
  if (wrong.length > 0) {
    throw pluginError('the parameters are not those of a transfer', {
      code: 'VALIDATION_FAILED',
      status: 400,
      details: { wrong },
    });
  }
  return { relayerId: String(relayerId), to: String(to), value: String(value) };
}
