import { apply, defineProperty } from './primordials.ts';

type Capture = (target: object, omit?: unknown) => void;

/**
 * Makes `Error.captureStackTrace` ignore objects that cannot take a stack. Libraries call it on constructors of their
 * own errors, or on an object that they take for one. A built-in among these is frozen here, but not where the
 * libraries were written. An error about the frozen object would hide the error that the library meant to make.
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
