import { apply, defineProperty } from './primordials.ts';

type Capture = (target: object, omit?: unknown) => void;

/**
 * Has `Error.captureStackTrace` pass over what cannot take a stack. Libraries call it on constructors of their own
 * errors, or on what they take for one. A built-in among these is frozen here, unlike where they were written: an error
 * about that would hide the error that they meant to make.
 */
export function tolerateFrozenTargets(global: typeof globalThis): void {
  const errors = global.Error as unknown as { captureStackTrace: Capture };
  const { captureStackTrace: native } = errors;
  const { isExtensible } = Object;
  const tolerant = {
    captureStackTrace(target: object, omit?: unknown): void {
      const isObject = (typeof target === 'object' && target !== null) || typeof target === 'function';
      if (isObject && !isExtensible(target)) return;
      apply(native, errors, [target, omit ?? tolerant.captureStackTrace]);
    },
  };
  defineProperty(errors, 'captureStackTrace', {
    value: tolerant.captureStackTrace,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}
