"""Arrays without an owner, for the inside of a kernel.

Numba counts references to arrays atomically, at every view and every call that passes one. In the fused kernel that
cost about half of the time: 1.55 microseconds per row and learner with counting, 0.82 without (Segment, 100 stumps). A
borrowed array has no owner to count for. It must not outlive the call whose argument it was.

Borrow in one function and work in another that takes the borrowed arrays as arguments. Where functions are inlined,
Numba removes what it takes for dead code, and knows only of arguments that writing into them has an effect.
"""

from __future__ import annotations

from typing import Any

from numba import config
from numba.core import cgutils
from numba.extending import intrinsic

IS_COMPILED = not getattr(config, "DISABLE_JIT", 0)

if not IS_COMPILED:

    def borrowed(array: Any) -> Any:
        """The array itself: Python counts references anyway."""
        return array

else:

    @intrinsic
    def borrowed(typing_context: Any, array: Any) -> Any:
        """The same array, with nobody to count references for."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, value=arguments[0])
            view.meminfo = cgutils.get_null_value(view.meminfo.type)
            view.parent = cgutils.get_null_value(view.parent.type)
            return view._getvalue()

        return array(array), generate
