"""All kinds of linear operators: whoever asks for one has those that it may become."""

from leat._linalg.algebra import (LinearOperatorAdjoint, LinearOperatorBlockDiag, LinearOperatorBlockLowerTriangular,
                                  LinearOperatorComposition, LinearOperatorInversion, LinearOperatorKronecker,
                                  LinearOperatorLowRankUpdate)
from leat._linalg.circulant import LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D
from leat._linalg.matrices import (LinearOperatorDiag, LinearOperatorFullMatrix, LinearOperatorHouseholder,
                                   LinearOperatorIdentity, LinearOperatorLowerTriangular, LinearOperatorPermutation,
                                   LinearOperatorScaledIdentity, LinearOperatorToeplitz, LinearOperatorTridiag,
                                   LinearOperatorZeros)
from leat._linalg.operator import LinearOperator

__all__ = ["LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorBlockLowerTriangular",
           "LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D",
           "LinearOperatorComposition", "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder",
           "LinearOperatorIdentity", "LinearOperatorInversion", "LinearOperatorKronecker",
           "LinearOperatorLowRankUpdate", "LinearOperatorLowerTriangular", "LinearOperatorPermutation",
           "LinearOperatorScaledIdentity", "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros"]
