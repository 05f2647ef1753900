import type { WireObject } from '../../domain/json/json.ts';
import type { Access } from '../../domain/settings/access.ts';

/** A plugin as one key sees it: without the relayers, and what is left of their budgets, that do not exist for the key. */
export function seenPlugin(view: WireObject, access: Access): WireObject {
  const permissions = view['permissions'] as WireObject;
  const relayers = Object.entries(permissions['relayers'] as WireObject);
  const seen = relayers.filter(([id]) => access.sees('relayers', id));
  return { ...view, permissions: { ...permissions, relayers: Object.fromEntries(seen) } };
}
