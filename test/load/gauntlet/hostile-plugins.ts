import type { EndCode } from '../../../sandbox/contract.ts';
import type { Attack } from '../../support/attacks/attack.ts';

/** How a call ended, according to its answer. */
export type End = EndCode | 'returned' | 'threw' | 'no answer';

/** The timeout of a hostile plugin's call, in seconds. */
export const ATTACK_TIMEOUT_S = 5;

/** An attack as a plugin. Its source can also answer an honest call. */
export interface HostilePlugin {
  readonly id: string;
  readonly attack: Attack;
  readonly source: string;
}

/** What an honest call of a hostile plugin returns. */
export const HONEST = 'honest';

/** Prefix of the ids of hostile plugins. */
export const HOSTILE = 'hostile-';

/** Makes a plugin of each attack. */
export function hostilePlugins(attacks: readonly Attack[]): HostilePlugin[] {
  return attacks.map((attack, index) => ({
    id: `${HOSTILE}${index + 1}`,
    attack,
    source: `// ${attack.name.replaceAll(/\s+/g, ' ')}
export async function handler(context) {
  if (context.params.honest) return '${HONEST}';
  ${attack.body}
}
`,
  }));
}
